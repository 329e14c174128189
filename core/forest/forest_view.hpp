// A forest as the core reads it: pointers into the arrays of its owner.
#pragma once

#include <cstdint>

#include "forest/flat_tree.hpp"

namespace surewood {

struct ForestView {
  const Node* nodes = nullptr;
  const std::uint32_t* short_nodes = nullptr;  // instead of `nodes` where word_bits > 0 (forest/short_nodes.hpp)
  int word_bits = 0;
  const std::uint16_t* leaf_class;
  const std::uint32_t* leaf_weight;
  const std::uint32_t* category_left;
  const CategorySet* category_set;
  const std::int64_t *node_start, *leaf_start, *category_start;
  std::uint32_t n_trees, n_classes, n_features;
};

}  // namespace surewood
