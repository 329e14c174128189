// The forest engine without Python: every splitter, criterion, tier and layout on random problems, checked for what a
// reader of memory errors cannot see: kernels agree, rows reach leaves with their own class weights.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/rng.hpp"
#include "forest/bin_column.hpp"
#include "forest/criterion.hpp"
#include "forest/forest_predict.hpp"
#include "forest/short_nodes.hpp"
#include "forest/tree_builder.hpp"

using namespace surewood;

namespace {

struct Problem {
  std::uint32_t n, n_columns, n_classes;
  std::vector<std::uint8_t> codes, by_row;
  std::vector<std::uint16_t> labels;
  std::vector<std::uint32_t> rows, weights;
  std::vector<double> values;
  Bins bins;
};

Problem make_problem(std::uint64_t seed, std::uint32_t n, std::uint32_t n_columns, std::uint32_t n_classes,
                     std::uint32_t n_codes, bool missing, bool categories, std::uint32_t max_weight) {
  Problem p{n, n_columns, n_classes, {}, {}, {}, {}, {}, {}, {}};
  Stream stream(stream_key(seed, {}));
  p.codes.resize(std::size_t(n) * n_columns);
  p.by_row.resize(p.codes.size());
  for (auto& code : p.codes)
    code = missing && stream.below(6) == 0 ? kMissingCode : static_cast<std::uint8_t>(stream.below(n_codes));
  for (std::uint32_t i = 0; i < n; ++i) {
    p.labels.push_back(static_cast<std::uint16_t>(stream.below(n_classes)));
    p.rows.push_back(i);
    p.weights.push_back(1 + stream.below(max_weight));
    for (std::uint32_t j = 0; j < n_columns; ++j)
      p.by_row[std::size_t(i) * n_columns + j] = p.codes[std::size_t(j) * n + i];
  }
  for (int b = 0; b < 255; ++b) p.values.push_back(b * 1.5);
  p.bins.n_rows = n;
  for (std::uint32_t j = 0; j < n_columns; ++j) {
    p.bins.by_column.push_back({p.codes.data() + std::size_t(j) * n, 1});
    p.bins.by_row.push_back({p.by_row.data() + j, n_columns});
    p.bins.info.push_back({p.values.data(), categories && j % 2 == 0, missing, n_codes <= 64 && !missing});
  }
  return p;
}

TreeArrays grow(const Problem& p, const GrowOptions& options) {
  TrainingSet training{&p.bins, p.labels.data(), p.n_classes, p.rows.data(), p.n, p.weights.data()};
  TreeArrays out;
  std::vector<double> importance(p.n_columns, 0.0);
  bool done = grow_trees(training, options, 11, 0, 2, nullptr, out, importance.data());
  assert(done);
  for (double value : importance) assert(value >= 0.0 && std::isfinite(value));
  return out;
}

ForestView view(const TreeArrays& out, const Problem& p) {
  return {out.nodes.data(),
          nullptr,
          0,
          out.leaf_class.data(),
          out.leaf_weight.data(),
          out.category_left.data(),
          out.category_set.data(),
          out.node_start.data(),
          out.leaf_start.data(),
          out.category_start.data(),
          static_cast<std::uint32_t>(out.node_start.size() - 1),
          p.n_classes,
          p.n_columns};
}

void check_same(const TreeArrays& a, const TreeArrays& b) {
  assert(a.nodes.size() == b.nodes.size() && a.leaf_class == b.leaf_class && a.leaf_weight == b.leaf_weight);
  for (std::size_t i = 0; i < a.nodes.size(); ++i)
    assert(a.nodes[i].left == b.nodes[i].left && a.nodes[i].word == b.nodes[i].word);
}

// Class vectors sum to 1 a tree, and the class of a training row has a share in the leaf it ends in.
void check_predictions(const TreeArrays& out, const Problem& p) {
  ForestView forest = view(out, p);
  std::vector<double> sums(std::size_t(p.n) * p.n_classes, 0.0);
  predict_codes(forest, p.bins, 0, p.n, sums.data());
  for (std::uint32_t i = 0; i < p.n; ++i) {
    double total = 0.0;
    for (std::uint32_t c = 0; c < p.n_classes; ++c) total += sums[std::size_t(i) * p.n_classes + c];
    assert(std::fabs(total - forest.n_trees) < 1e-9);
    assert(sums[std::size_t(i) * p.n_classes + p.labels[i]] > 0.0);
  }
  std::vector<double> few(3 * p.n_classes, 0.0);  // eight trees of one row instead of eight rows of one tree
  std::uint32_t end = p.n < 3 ? p.n : 3;
  predict_codes(forest, p.bins, 0, end, few.data());
  for (std::uint32_t k = 0; k < end * p.n_classes; ++k) assert(few[k] == sums[k]);
  std::vector<std::uint32_t> leaves(std::size_t(p.n) * forest.n_trees);
  apply_codes(forest, p.bins, 0, p.n, 0xFFFFFFFFu, nullptr, leaves.data());
  for (std::size_t k = 0; k < leaves.size(); ++k)
    assert(is_leaf(out.nodes[static_cast<std::size_t>(out.node_start[k % forest.n_trees]) + leaves[k]].word));
}

// Short nodes are read as the whole ones they were made of, and predict the same.
void check_short_nodes(const TreeArrays& out, const Problem& p) {
  const ForestView whole = view(out, p);
  const int word_bits = ShortCodec::word_bits_for(p.n_columns);
  const std::optional<ShortTrees> made = shorten(whole, word_bits);
  assert(made);
  ForestView forest = whole;
  forest.nodes = nullptr;
  forest.short_nodes = made->nodes.data();
  forest.word_bits = word_bits;
  forest.leaf_class = made->leaf_class.data();
  forest.leaf_weight = made->leaf_weight.data();
  forest.leaf_start = made->leaf_start.data();
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    const TreeNodes nodes = tree_nodes(forest, tree);
    for (std::int64_t i = 0; i < out.node_start[tree + 1] - out.node_start[tree]; ++i) {
      const Node expected = out.nodes[static_cast<std::size_t>(out.node_start[tree] + i)];
      assert(nodes[i].left == expected.left && nodes[i].word == expected.word);
    }
  }
  std::vector<double> sums(std::size_t(p.n) * p.n_classes, 0.0), other = sums;
  predict_codes(forest, p.bins, 0, p.n, sums.data());
  predict_codes(whole, p.bins, 0, p.n, other.data());
  assert(sums == other);
}

void check_out_of_bag(const TreeArrays& out, const Problem& p, const GrowOptions& options) {
  std::vector<double> sums(std::size_t(p.n) * p.n_classes, 0.0);
  std::vector<std::uint32_t> votes(p.n, 0);
  Bagging bagging{options.sampler, 11, 0, p.rows.data()};
  predict_out_of_bag(view(out, p), p.bins, bagging, 0, p.n, sums.data(), votes.data());
  for (std::uint32_t i = 0; i < p.n; ++i) {
    std::uint32_t outside = 0;
    for (std::uint64_t tree = 0; tree < 2; ++tree)
      outside += in_bag_counts(options.sampler, tree_key(11, tree))[i] == 0;
    assert(outside == votes[i]);
  }
}

void run_problem(const Problem& p, Splitter splitter, CriterionKind criterion, std::uint32_t min_leaf) {
  GrowOptions options;
  options.splitter = splitter;
  options.criterion = criterion;
  options.max_features = 1 + p.n_columns / 2;
  options.min_samples_leaf = min_leaf;
  options.sampler.n = p.n;
  TreeArrays fast = grow(p, options);
  check_predictions(fast, p);
  check_short_nodes(fast, p);
  options.fast_kernels = false;
  check_same(fast, grow(p, options));
  Problem columns_only = p;
  columns_only.bins.by_row.clear();
  check_same(fast, grow(columns_only, options));
  for (Sampling sampling : {Sampling::kBootstrap, Sampling::kSubsample, Sampling::kResample}) {
    std::vector<std::uint32_t> units(p.rows.rbegin(), p.rows.rend());
    units.push_back(0);
    options.sampler = {sampling, p.n, units.data(), p.n + 1, (p.n + 1) / 2, p.weights.data()};
    options.max_depth = 3;
    check_out_of_bag(grow(p, options), p, options);
  }
}

void raw_values_take_the_side_of_their_bin() {
  Problem p = make_problem(5, 300, 4, 3, 20, true, false, 1);
  GrowOptions options;
  options.sampler.n = p.n;
  TreeArrays out = grow(p, options);
  std::vector<double> edges;
  std::vector<std::int64_t> offset(1, 0);
  std::vector<float> raw(std::size_t(p.n) * p.n_columns);
  for (std::uint32_t j = 0; j < p.n_columns; ++j) {
    for (int b = 0; b < 254; ++b) edges.push_back(b * 1.5 + 0.75);
    edges.push_back(INFINITY);
    offset.push_back(static_cast<std::int64_t>(edges.size()));
  }
  for (std::size_t k = 0; k < raw.size(); ++k)
    raw[k] = p.by_row[k] == kMissingCode ? NAN : static_cast<float>(p.by_row[k] * 1.5);
  for (std::uint32_t n : {2u, 300u}) {
    std::vector<double> from_codes(n * 3, 0.0), from_values(n * 3, 0.0);
    predict_codes(view(out, p), p.bins, 0, n, from_codes.data());
    predict_values(view(out, p), raw.data(), n, p.n_columns, Thresholds{edges.data(), offset.data()},
                   from_values.data());
    assert(from_codes == from_values);
  }
}

}  // namespace

int main() {
  assert(weight_log2(1) == 0 && weight_log2(2) == 2ll << kLogFraction &&
         weight_log2(1u << 30) == 30ll << (30 + kLogFraction));
  const double edges[3] = {0.5, 1.5, 2.5}, values[5] = {0.5, 0.6, -1.0, 9.0, NAN};
  std::uint8_t codes[5];
  bin_column(values, 5, edges, 3, codes);
  assert(codes[0] == 0 && codes[1] == 1 && codes[2] == 0 && codes[3] == 3 && codes[4] == kMissingCode);

  const std::uint32_t classes[] = {1, 2, 3, 9, 20, 40, 100, 3000};
  std::uint64_t seed = 0;
  for (std::uint32_t n_classes : classes)
    for (std::uint32_t n_codes : {1u, 3u, 255u})
      for (int kind = 0; kind < 4; ++kind)
        for (std::uint32_t n : {1u, 7u, 160u}) {
          Problem p = make_problem(++seed, n, 1 + kind * 2, n_classes, n_codes, kind % 2 == 1, kind >= 2,
                                   kind == 3 ? 1000000u : 3u);
          for (Splitter splitter : {Splitter::kBest, Splitter::kRandom, Splitter::kCompletelyRandom})
            run_problem(p, splitter, kind % 2 ? CriterionKind::kEntropy : CriterionKind::kGini, kind == 2 ? 2 : 1);
        }
  raw_values_take_the_side_of_their_bin();
  std::puts("trees ok");
}
