// Grown trees as flat arrays: nodes (forest/node_codec.hpp), leaf vectors and category sets in pools of their own.
//
// A sparse leaf vector begins with (number of classes, total weight), then (class, weight) by ascending class. All
// indices are relative to the tree, so forests are concatenated without rewriting.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/node_codec.hpp"

namespace surewood {

struct CategorySet {
  std::uint64_t bits[4] = {0, 0, 0, 0};
  void add(std::uint8_t code) { bits[code >> 6] |= 1ull << (code & 63); }
  bool has(std::uint8_t code) const { return (bits[code >> 6] >> (code & 63)) & 1u; }
};

// Trees of one batch, one after another; *_start has one entry per tree plus the end.
struct TreeArrays {
  std::vector<Node> nodes;
  std::vector<std::uint16_t> leaf_class;
  std::vector<std::uint32_t> leaf_weight;
  std::vector<std::uint32_t> category_left;
  std::vector<CategorySet> category_set;
  std::vector<std::int64_t> node_start, leaf_start, category_start;

  // Room for `n` trees about as large as the first, so that the arrays need not move while they grow.
  void reserve_trees(std::size_t n) {
    const std::size_t trees = n + n / 8;
    nodes.reserve(nodes.size() * trees);
    leaf_class.reserve(leaf_class.size() * trees);
    leaf_weight.reserve(leaf_weight.size() * trees);
    category_left.reserve(category_left.size() * trees);
    category_set.reserve(category_set.size() * trees);
  }
};

}  // namespace surewood
