// Eight descents through flat trees at once: independent chains of loads hide each other's latency.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forest/flat_tree.hpp"
#include "forest/short_nodes.hpp"

namespace surewood {

constexpr int kLanes = 8;

// One tree as a descent sees it.
struct TreeView {
  TreeNodes nodes;
  const std::uint32_t* category_left;
  const CategorySet* category_set;
};

inline TreeView tree_view(const ForestView& forest, std::uint32_t tree) {
  return {tree_nodes(forest, tree), forest.category_left + forest.category_start[tree],
          forest.category_set + forest.category_start[tree]};
}

// Rows of bin codes, one after another.
struct CodeRows {
  const std::uint8_t* codes;
  std::size_t stride;

  // The child of a split node; for a leaf any number may come out.
  std::uint32_t next(const TreeView& tree, Node node, std::uint32_t feature, std::size_t row) const {
    std::uint8_t code = codes[row * stride + feature];
    if (node_category(node.word)) return tree.category_left[node.left] + !tree.category_set[node.left].has(code);
    return node.left + !number_left(node.word, code);
  }
};

// Rows of raw numbers with the thresholds of their bins.
template <class Value>
struct ValueRows {
  const Value* values;
  std::size_t stride;
  const double* edge;
  const std::int64_t* offset;

  std::uint32_t next(const TreeView&, Node node, std::uint32_t feature, std::size_t row) const {
    double value = static_cast<double>(values[row * stride + feature]);
    std::uint32_t missing_left = node_missing_left(node.word);
    double threshold = edge[offset[feature] + node_test(node.word) - missing_left];
    bool left = missing_left ? !(value > threshold) : value <= threshold;
    return node.left + !left;
  }
};

// Lane k goes down trees[k] with row rows[k] from the root; at[k] becomes its leaf (or its node after max_depth steps).
template <class Rows>
inline void descend(const TreeView* trees, const Rows& source, const std::size_t* rows, std::uint32_t max_depth,
                    std::uint32_t* at) {
  for (int k = 0; k < kLanes; ++k) at[k] = 0;
  bool active = true;
  for (std::uint32_t depth = 0; active && depth < max_depth; ++depth) {
    active = false;
    for (int k = 0; k < kLanes; ++k) {
      Node node = trees[k].nodes[at[k]];
      bool leaf = is_leaf(node.word);
      std::uint32_t feature = leaf ? 0u : node_feature(node.word);
      node.word = leaf ? kIdleWord : node.word;  // a harmless number test; its answer is dropped
      std::uint32_t next = source.next(trees[k], node, feature, rows[k]);
      at[k] = leaf ? at[k] : next;
      active |= !leaf;
    }
  }
}

}  // namespace surewood
