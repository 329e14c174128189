// Shapley values without Python: on random forests of every kind they sum to the difference of the class vectors.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/rng.hpp"
#include "forest/forest_predict.hpp"
#include "forest/forest_shapley.hpp"
#include "forest/tree_builder.hpp"

using namespace surewood;

namespace {

void check(std::uint64_t seed, std::uint32_t n_classes, bool categories, std::uint32_t n_groups) {
  const std::uint32_t n = 90, n_columns = 6;
  Stream stream(stream_key(seed, {}));
  std::vector<std::uint8_t> codes(std::size_t(n) * n_columns);
  for (auto& code : codes) code = stream.below(7) == 0 ? kMissingCode : static_cast<std::uint8_t>(stream.below(9));
  std::vector<double> values;
  for (int b = 0; b < 255; ++b) values.push_back(b);
  std::vector<std::uint16_t> labels;
  std::vector<std::uint32_t> rows, weights;
  Bins bins;
  bins.n_rows = n;
  for (std::uint32_t i = 0; i < n; ++i) {
    labels.push_back(static_cast<std::uint16_t>(stream.below(n_classes)));
    rows.push_back(i);
    weights.push_back(1);
  }
  for (std::uint32_t j = 0; j < n_columns; ++j) {
    bins.by_column.push_back({codes.data() + std::size_t(j) * n, 1});
    bins.info.push_back({values.data(), categories && j % 2 == 0, true, false});
  }
  TrainingSet training{&bins, labels.data(), n_classes, rows.data(), n, weights.data()};
  GrowOptions options;
  options.max_features = 2;
  options.sampler.n = n;
  TreeArrays trees;
  std::vector<double> importance(n_columns, 0.0);
  const bool done = grow_trees(training, options, seed, 0, 3, nullptr, trees, importance.data());
  assert(done);
  ForestView view;
  view.nodes = trees.nodes.data();
  view.leaf_class = trees.leaf_class.data();
  view.leaf_weight = trees.leaf_weight.data();
  view.category_left = trees.category_left.data();
  view.category_set = trees.category_set.data();
  view.node_start = trees.node_start.data();
  view.leaf_start = trees.leaf_start.data();
  view.category_start = trees.category_start.data();
  view.n_trees = 3;
  view.n_classes = n_classes;
  view.n_features = n_columns;
  std::vector<std::uint32_t> group_of(n_columns);
  for (std::uint32_t j = 0; j < n_columns; ++j) group_of[j] = j % n_groups;
  std::vector<double> votes(std::size_t(n) * n_classes, 0.0), mean(n_classes, 0.0);
  predict_codes(view, bins, 0, n, votes.data());
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t k = 0; k < n_classes; ++k) mean[k] += votes[i * n_classes + k];
  const std::uint32_t begin = 10, end = 25;
  std::vector<double> found(std::size_t(end - begin) * n_groups * n_classes, 0.0);
  shapley_codes(view, bins, begin, end, bins, group_of.data(), n_groups, found.data());
  for (std::uint32_t i = begin; i < end; ++i)
    for (std::uint32_t k = 0; k < n_classes; ++k) {
      double sum = 0.0;
      for (std::uint32_t g = 0; g < n_groups; ++g) sum += found[((i - begin) * n_groups + g) * n_classes + k];
      assert(std::abs(sum - (n * votes[i * n_classes + k] - mean[k])) < 1e-8);
    }
}

}  // namespace

int main() {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (std::uint32_t n_classes : {2u, 4u})
      for (bool categories : {false, true})
        for (std::uint32_t n_groups : {1u, 3u, 6u}) check(seed, n_classes, categories, n_groups);
  std::puts("forest_shapley: ok");
}
