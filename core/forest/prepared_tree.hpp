// Trees prepared for many rows: copies in which leaves point to themselves, so that eight rows go down a tree in step and
// a step needs no test for the end. Nodes for rows of numbers hold raw thresholds; nodes for rows of codes are one word.
//
// A word has, from the top, the left child, the largest number of its middle field less the test, and the column. The
// code is added to the middle field: one above the test carries over, which turns the left child into the right one.
// Leaves point to themselves and never carry. The words are half as long where tree and table are small: then a tree
// stays in the first caches. Made for a group of trees, used for a few thousand rows, thrown away.
//
// Node numbers are those of the flat tree. Category splits are not packed (forest/descend.hpp serves those forests).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"
#include "forest/short_nodes.hpp"

namespace surewood {

constexpr std::size_t kRowLanes = 8;  // 12 made no difference, 16 was slower

// next(node, lane) is the child that a lane's row goes to from a split, and the node itself from a leaf.
template <class Next>
inline void descend_in_step(Next next, std::uint32_t* at) {
  constexpr int kStepsTogether = 4;  // the end is looked for now and then
  std::uint32_t a[kRowLanes] = {0};
  std::uint32_t moved;
  do {
    for (int step = 1; step < kStepsTogether; ++step)
      for (std::size_t k = 0; k < kRowLanes; ++k) a[k] = next(a[k], k);
    moved = 0;
    for (std::size_t k = 0; k < kRowLanes; ++k) {
      const std::uint32_t there = next(a[k], k);
      moved |= there ^ a[k];
      a[k] = there;
    }
  } while (moved);
  for (std::size_t k = 0; k < kRowLanes; ++k) at[k] = a[k];
}

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

// Codes of some rows, eight rows side by side: code (row, column) is at (row / 8 * width + column) * 8 + row % 8.
// Where a code is missing every column has a second one beside the first ones, with uint8(code + 1): what splits that
// send missing values left compare.
struct CodeTile {
  std::size_t n_rows, n_columns;
  bool shifted = false;
  std::vector<std::uint8_t> codes;

  CodeTile(std::size_t rows, std::size_t columns, bool has_missing)
      : n_rows(rows), n_columns(columns), shifted(has_missing), codes(n_groups() * width() * kRowLanes) {}

  std::size_t n_groups() const { return (n_rows + kRowLanes - 1) / kRowLanes; }
  std::size_t width() const { return shifted ? 2 * n_columns : n_columns; }
  const std::uint8_t* group(std::size_t number) const { return codes.data() + number * width() * kRowLanes; }

  // The codes of one column for rows `begin` ... `begin + n - 1`; begin is a multiple of eight.
  void put(std::size_t column, std::size_t begin, std::size_t n, const std::uint8_t* from) {
    const std::size_t step = width() * kRowLanes;
    std::uint8_t* to = codes.data() + begin / kRowLanes * step + column * kRowLanes;
    for (std::size_t i = 0; i < n; i += kRowLanes, to += step) {
      const std::size_t lanes = std::min(kRowLanes, n - i);
      if (lanes == kRowLanes)
        std::memcpy(to, from + i, kRowLanes);
      else
        std::memcpy(to, from + i, lanes);
      if (!shifted) continue;
      std::uint8_t* beside = to + n_columns * kRowLanes;
      for (std::size_t k = 0; k < lanes; ++k) beside[k] = static_cast<std::uint8_t>(to[k] + 1);
    }
  }

  // The same rows in another order.
  CodeTile in_order(const std::vector<std::uint32_t>& order) const {
    CodeTile tile(n_rows, n_columns, shifted);
    for (std::size_t row = 0; row < n_rows; ++row) {
      const std::uint8_t* from = group(order[row] / kRowLanes) + order[row] % kRowLanes;
      std::uint8_t* to = tile.codes.data() + row / kRowLanes * width() * kRowLanes + row % kRowLanes;
      for (std::size_t j = 0; j < width() * kRowLanes; j += kRowLanes) to[j] = from[j];
    }
    return tile;
  }
};

// Rows begin ... end - 1 of a matrix.
inline CodeTile tile_of(const Bins& bins, std::uint32_t begin, std::uint32_t end) {
  const std::size_t n = end - begin;
  bool missing = false;
  for (std::size_t j = 0; j < bins.n_columns() && !missing; ++j)
    missing = n && std::memchr(bins.by_column[j].codes + begin, kMissingCode, n);
  CodeTile tile(n, bins.n_columns(), missing);
  // Strips of rows: the lines being written stay in cache while all columns pass over them.
  constexpr std::size_t kStrip = 64;
  for (std::size_t strip = 0; strip < n; strip += kStrip)
    for (std::size_t j = 0; j < bins.n_columns(); ++j)
      tile.put(j, strip, std::min(kStrip, n - strip), bins.by_column[j].codes + begin + strip);
  return tile;
}

template <class Word>
struct PackedTree {
  static constexpr int kColumnBits = 2 * sizeof(Word), kLeftShift = 2 * kColumnBits;
  static constexpr std::size_t kMaxColumns = std::size_t(1) << kColumnBits;
  static constexpr std::int64_t kMaxNodes = std::int64_t(1) << kLeftShift;
  static constexpr Word kTop = (Word(1) << kColumnBits) - 1;  // of the middle field

  template <class Nodes>
  static void pack(const Nodes& nodes, std::int64_t n, const CodeTile& tile, Word* out) {
    const Word beside = tile.shifted ? static_cast<Word>(tile.n_columns) : 0;
    const Word unshifted = tile.shifted ? 0 : 1;
    for (std::int64_t i = 0; i < n; ++i) {
      const Node node = way(nodes, i);
      const std::uint32_t word = node.word;
      const Word missing_left = node_missing_left(word);
      const Word test = node_test(word) - missing_left * unshifted;
      const Word column = node_feature(word) + missing_left * beside;
      const Word split = Word(node.left) << kLeftShift | (kTop - test) << kColumnBits | column;
      out[i] = is_leaf(word) ? Word(i) << kLeftShift : split;
    }
  }

  // The next node of a row that stands in a lane of a group.
  static std::uint32_t next(const Word* nodes, const std::uint8_t* group, std::uint32_t at, std::size_t lane) {
    const Word node = nodes[at];
    const Word code = group[static_cast<std::size_t>(node & kTop) * kRowLanes + lane];
    return static_cast<std::uint32_t>((node + (code << kColumnBits)) >> kLeftShift);
  }
};

}  // namespace surewood
