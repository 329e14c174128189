// Trees prepared for many rows of numbers: leaves point to themselves, so a step needs no test for the end, and raw
// thresholds stand in the node. For rows of codes there are packed trees (forest/packed_tree.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "forest/flat_tree.hpp"
#include "forest/short_nodes.hpp"

namespace surewood {

template <class Number>
struct ValueNode {
  using Value = Number;
  Number threshold;
  std::uint32_t left, word;  // feature << 1 | missing_left
  std::uint32_t next(const Value* row) const {
    const Number value = row[word >> 1];
    return left + static_cast<std::uint32_t>((value > threshold) | ((value != value) & !(word & 1u)));
  }
  static ValueNode split(Node node, const double* edge, const std::int64_t* offset) {
    const std::uint32_t feature = node_feature(node.word), missing_left = node_missing_left(node.word);
    return {below(edge[offset[feature] + node_test(node.word) - missing_left]), node.left, feature << 1 | missing_left};
  }
  static ValueNode leaf(std::uint32_t self) { return {std::numeric_limits<Number>::infinity(), self, 1u}; }

  // The largest Number that is <= edge: the same side for every Number.
  static Number below(double edge) {
    const auto rounded = static_cast<Number>(edge);
    if (static_cast<double>(rounded) <= edge) return rounded;
    return std::nextafter(rounded, -std::numeric_limits<Number>::infinity());
  }
};

template <class Prepared, class Nodes>
void prepare_tree(const Nodes& nodes, std::int64_t n, const double* edge, const std::int64_t* offset, Prepared* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Node node = way(nodes, i);
    out[i] = is_leaf(node.word) ? Prepared::leaf(static_cast<std::uint32_t>(i)) : Prepared::split(node, edge, offset);
  }
}

}  // namespace surewood
