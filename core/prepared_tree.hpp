// Trees prepared for many rows: leaves point to themselves, so a step needs no test for the end, and raw thresholds stand
// in the node. Made for a group of trees, used for a few thousand rows, thrown away.
//
// Node numbers are those of the flat tree. Category splits are not prepared (descend.hpp serves those forests).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "flat_tree.hpp"

namespace surewood {

// For rows of at most 65,536 codes. Fields of their own, which a step reads without shifting and masking.
// Without missing values among the rows a step is one comparison.
template <bool kMissing>
struct CodeNode {
  using Value = std::uint8_t;
  static constexpr std::size_t kMaxColumns = 65536;
  std::uint32_t left;
  std::uint16_t feature;
  std::uint8_t test, missing_left;
  std::uint32_t next(const Value* row) const {
    if constexpr (kMissing) return left + (static_cast<std::uint8_t>(row[feature] + missing_left) > test);
    return left + (row[feature] > test);
  }
  static CodeNode split(Node node, const double*, const std::int64_t*) {
    const std::uint8_t missing_left = node_missing_left(node.word);
    const auto test = static_cast<std::uint8_t>(node_test(node.word) - (kMissing ? 0 : missing_left));
    return {node.left, static_cast<std::uint16_t>(node_feature(node.word)), test, missing_left};
  }
  static CodeNode leaf(std::uint32_t self) { return {self, 0, 255, 0}; }
};

// For rows of numbers.
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

template <class Prepared>
void prepare_tree(const Node* nodes, std::int64_t n, const double* edge, const std::int64_t* offset, Prepared* out) {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = is_leaf(nodes[i].word) ? Prepared::leaf(static_cast<std::uint32_t>(i))
                                    : Prepared::split(nodes[i], edge, offset);
}

constexpr int kRowLanes = 8;  // 12 made no difference, 16 was slower

constexpr int kStepsTogether = 4;  // leaves stay where they are: the end is looked for now and then

// That many rows down one prepared tree.
template <class Prepared>
inline void descend_prepared(const Prepared* nodes, const typename Prepared::Value* const* rows, std::uint32_t* at) {
  std::uint32_t a[kRowLanes] = {0};
  std::uint32_t moved;
  do {
    for (int step = 1; step < kStepsTogether; ++step)
      for (int k = 0; k < kRowLanes; ++k) a[k] = nodes[a[k]].next(rows[k]);
    moved = 0;
    for (int k = 0; k < kRowLanes; ++k) {
      const std::uint32_t next = nodes[a[k]].next(rows[k]);
      moved |= next ^ a[k];
      a[k] = next;
    }
  } while (moved);
  for (int k = 0; k < kRowLanes; ++k) at[k] = a[k];
}

}  // namespace surewood
