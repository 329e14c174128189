#include "forest/boosting/boosted_predict.hpp"

#include <algorithm>
#include <cstring>

#include "forest/boosting/kernels.hpp"
#include "forest/descend.hpp"

namespace surewood {

namespace {

constexpr std::uint32_t kTile = 1024;              // rows whose codes stay in the cache
constexpr std::uint32_t kRowsWorthRecognising = 16;  // below, trees are descended one by one
constexpr std::uint32_t kMostDepth = 8;            // leaves are numbered with a byte

// One row of codes that stand column by column.
struct ColumnRows {
  const Bins& bins;
  std::uint32_t begin;
  std::uint32_t next(const TreeView& tree, Node node, std::uint32_t feature, std::size_t row) const {
    const std::uint8_t code = bins.by_column[feature].codes[begin + row];
    if (node_category(node.word)) return tree.category_left[node.left] + !tree.category_set[node.left].has(code);
    return node.left + !number_left(node.word, code);
  }
};

bool same_set(const CategorySet& a, const CategorySet& b) { return !std::memcmp(&a, &b, sizeof(CategorySet)); }

// The depth of a tree that has the same split at all nodes of a level, children of node k at 2k + 1 and 2k + 2; -1 for
// other trees.
int symmetric_depth(const Node* nodes, std::int64_t n, const TreeView& view) {
  int depth = 0;
  std::int64_t first = 0;
  for (; first < n && !is_leaf(nodes[first].word); first = 2 * first + 1, ++depth) {
    const std::int64_t last = 2 * first;  // of the level
    if (2 * last + 2 >= n || depth == kMostDepth) return -1;
    const Node& model = nodes[first];
    for (std::int64_t i = first; i <= last; ++i) {
      if (nodes[i].word != model.word) return -1;
      const bool category = node_category(model.word);
      if ((category ? view.category_left[nodes[i].left] : nodes[i].left) != 2 * i + 1) return -1;
      if (category && !same_set(view.category_set[nodes[i].left], view.category_set[model.left])) return -1;
    }
  }
  if (2 * first + 1 != n) return -1;
  for (std::int64_t i = first; i < n; ++i)
    if (!is_leaf(nodes[i].word)) return -1;
  return depth;
}

void push_category_bit(const std::uint8_t* codes, std::size_t n, const CategorySet& left, std::uint8_t* leaf) {
  for (std::size_t i = 0; i < n; ++i) leaf[i] = static_cast<std::uint8_t>(2 * leaf[i] + !left.has(codes[i]));
}

void add_symmetric(const Node* nodes, int depth, const TreeView& view, const float* values, std::uint32_t n_outputs,
                   const Bins& bins, std::uint32_t begin, std::uint32_t n, double* out) {
  std::uint8_t leaf[kTile];
  std::memset(leaf, 0, n);
  std::int64_t first = 0;
  for (int level = 0; level < depth; ++level, first = 2 * first + 1) {
    const Node& node = nodes[first];
    const std::uint8_t* codes = bins.by_column[node_feature(node.word)].codes + begin;
    if (node_category(node.word))
      push_category_bit(codes, n, view.category_set[node.left], leaf);
    else
      boosting::push_bit(codes, n, node.word, leaf);
  }
  values += first * n_outputs;
  if (n_outputs == 1) {
    for (std::uint32_t i = 0; i < n; ++i) out[i] += double(values[leaf[i]]);
    return;
  }
  for (std::uint32_t i = 0; i < n; ++i, out += n_outputs) {
    const float* added = values + std::size_t(leaf[i]) * n_outputs;
    for (std::uint32_t k = 0; k < n_outputs; ++k) out[k] += double(added[k]);
  }
}

void add_descended(const TreeView& view, const float* values, std::uint32_t n_outputs, const Bins& bins,
                   std::uint32_t begin, std::uint32_t n, double* out) {
  TreeView trees[kLanes];
  std::fill_n(trees, kLanes, view);
  const ColumnRows source{bins, begin};
  std::size_t rows[kLanes];
  std::uint32_t at[kLanes];
  for (std::uint32_t i = 0; i < n; i += kLanes) {
    for (std::uint32_t k = 0; k < kLanes; ++k) rows[k] = std::min(i + k, n - 1);
    descend(trees, source, rows, 0xFFFFFFFF, at);
    for (std::uint32_t lane = 0; lane < kLanes && i + lane < n; ++lane)
      for (std::uint32_t k = 0; k < n_outputs; ++k)
        out[std::size_t(i + lane) * n_outputs + k] += double(values[std::size_t(at[lane]) * n_outputs + k]);
  }
}

}  // namespace

void add_boosted_scores(const ForestView& forest, const float* values, std::uint32_t n_outputs, const Bins& bins,
                        std::uint32_t begin, std::uint32_t end, double* out) {
  std::vector<int> depth(forest.n_trees, -1);
  if (end - begin >= kRowsWorthRecognising)
    for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
      depth[tree] = symmetric_depth(forest.nodes + forest.node_start[tree],
                                    forest.node_start[tree + 1] - forest.node_start[tree], tree_view(forest, tree));
  for (std::uint32_t at = begin; at < end; at += kTile) {
    const std::uint32_t n = std::min(kTile, end - at);
    for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
      const float* tree_values = values + forest.node_start[tree] * n_outputs;
      double* to = out + std::size_t(at - begin) * n_outputs;
      const TreeView view = tree_view(forest, tree);
      if (depth[tree] >= 0)
        add_symmetric(forest.nodes + forest.node_start[tree], depth[tree], view, tree_values, n_outputs, bins, at, n, to);
      else
        add_descended(view, tree_values, n_outputs, bins, at, n, to);
    }
  }
}

}  // namespace surewood
