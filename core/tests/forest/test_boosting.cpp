// Boosting without Python: models of both shapes fit what can be fitted, do not depend on the order of the rows, and
// their scores are those that training ended with.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/rng.hpp"
#include "forest/boosting/boosted_predict.hpp"
#include "forest/boosting/boosting.hpp"

using namespace surewood;

namespace {

constexpr std::uint32_t kRows = 400, kColumns = 5;

struct Table {
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(kRows * kColumns);
  std::vector<std::uint16_t> label = std::vector<std::uint16_t>(kRows);
  std::vector<std::uint64_t> key = std::vector<std::uint64_t>(kRows);
  std::vector<Role> role = std::vector<Role>(kRows);
};

Table random_table(std::uint32_t n_classes) {
  Table table;
  Stream stream(stream_key(n_classes, {}));
  for (std::uint32_t i = 0; i < kRows; ++i) {
    for (std::uint32_t j = 0; j < kColumns; ++j)
      table.codes[j * kRows + i] = stream.below(8) == 0 ? kMissingCode : static_cast<std::uint8_t>(stream.below(9));
    const std::uint32_t first = table.codes[i], second = table.codes[kRows + i];
    table.label[i] = static_cast<std::uint16_t>((first / 3 + (second == kMissingCode)) % n_classes);
    table.key[i] = stream.next();
    table.role[i] = i % 5 == 0 ? Role::kHeldOut : Role::kTraining;
  }
  return table;
}

Table reversed(const Table& table) {
  Table other = table;
  for (std::uint32_t j = 0; j < kColumns; ++j)
    std::reverse(other.codes.begin() + j * kRows, other.codes.begin() + (j + 1) * kRows);
  std::reverse(other.label.begin(), other.label.end());
  std::reverse(other.key.begin(), other.key.end());
  std::reverse(other.role.begin(), other.role.end());
  return other;
}

struct Model {
  Bins bins;
  BoostedTrees trees;
};

Model fit(const Table& table, std::uint32_t n_classes, const BoostingOptions& options) {
  Model model;
  model.bins.n_rows = kRows;
  for (std::uint32_t j = 0; j < kColumns; ++j) model.bins.by_column.push_back({table.codes.data() + j * kRows, 1});
  const std::vector<std::uint8_t> n_bins(kColumns, 9), has_missing(kColumns, 1);
  const std::vector<std::uint32_t> columns{0, 1, 2, 3, 4};
  const std::vector<double> baseline(output_count(n_classes), 0.0);
  BoostingRows rows;
  rows.bins = &model.bins;
  rows.n_bins = n_bins.data();
  rows.has_missing = has_missing.data();
  rows.columns = columns.data();
  rows.n_columns = kColumns;
  rows.label = table.label.data();
  rows.key = table.key.data();
  rows.role = table.role.data();
  rows.n_classes = n_classes;
  model.trees = boost(rows, options, baseline.data(), [] { return false; });
  return model;
}

void check(bool symmetric, std::uint32_t n_classes) {
  BoostingOptions options;
  options.symmetric = symmetric;
  options.depth = 4;
  options.max_leaves = 12;
  options.n_rounds = 40;
  options.patience = 40;
  options.learning_rate = 0.3;
  options.columns_per_tree = 4;
  options.row_fraction = 0.8;
  options.min_rows = 3;
  const Table table = random_table(n_classes);
  const Model model = fit(table, n_classes, options);
  assert(model.trees.losses.size() == 41);
  assert(model.trees.losses.back() < 0.5 * model.trees.losses.front());

  const Model other = fit(reversed(table), n_classes, options);
  assert(model.trees.losses == other.trees.losses && model.trees.values == other.trees.values);

  ForestView forest;
  forest.nodes = model.trees.nodes.data();
  forest.node_start = model.trees.node_start.data();
  const std::vector<std::int64_t> none(model.trees.node_start.size(), 0);
  forest.leaf_start = forest.category_start = none.data();
  forest.leaf_class = nullptr;
  forest.leaf_weight = forest.category_left = nullptr;
  forest.category_set = nullptr;
  forest.n_trees = static_cast<std::uint32_t>(model.trees.node_start.size() - 1);
  forest.n_classes = n_classes;
  forest.n_features = kColumns;
  const std::uint32_t n_outputs = output_count(n_classes);
  std::vector<double> together(kRows * n_outputs, 0.0), single(n_outputs);
  add_boosted_scores(forest, model.trees.values.data(), n_outputs, model.bins, 0, kRows, together.data());
  double loss = 0.0, failure = 0.0;  // failure: the mean loss if each row had its most probable other class
  std::uint32_t held_out = 0;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    std::fill(single.begin(), single.end(), 0.0);
    add_boosted_scores(forest, model.trees.values.data(), n_outputs, model.bins, i, i + 1, single.data());
    assert(std::equal(single.begin(), single.end(), together.begin() + i * n_outputs));
    if (table.role[i] != Role::kHeldOut) continue;
    std::vector<double> scores = single;
    if (n_outputs == 1) scores.insert(scores.begin(), 0.0);
    double sum = 0.0;
    for (const double score : scores) sum += std::exp(score);
    loss += std::log(sum) - scores[table.label[i]];
    scores.erase(scores.begin() + table.label[i]);
    failure += std::log(sum) - *std::max_element(scores.begin(), scores.end());
    ++held_out;
  }
  assert(std::abs((loss + failure / held_out) / (held_out + 1) - model.trees.losses.back()) < 1e-5);
}

}  // namespace

int main() {
  for (const bool symmetric : {true, false})
    for (const std::uint32_t n_classes : {2u, 3u, 9u}) check(symmetric, n_classes);
  std::puts("boosting: ok");
}
