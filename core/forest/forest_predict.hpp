// Prediction with flat trees: class vectors, leaves, out-of-bag sums; from bin codes or from raw values.
//
// Rows are taken in tiles that stay in cache while all trees pass over them, eight descents at a time: eight
// rows of one tree, or eight trees of one row when there are few rows. A row's sum runs over the trees in
// order, so results do not depend on how rows are dealt to threads.
#pragma once

#include <cstdint>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"
#include "forest/in_bag.hpp"

namespace surewood {

// Raw thresholds of number columns: bin b of column j ends at edge[offset[j] + b]; the last bin at infinity.
struct Thresholds {
  const double* edge;
  const std::int64_t* offset;
};

constexpr std::uint32_t kNoDepthLimit = 0xFFFFFFFFu;

// Adds each tree's class vector to out[(row - begin) * n_classes + class] for rows begin ... end - 1.
void predict_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end, double* out);

// The same from raw numbers (row-major, `stride` values per row, NaN missing); no category columns.
template <class Value>
void predict_values(const ForestView& forest, const Value* values, std::size_t n_rows, std::size_t stride,
                    const Thresholds& thresholds, double* out);

// out[(row - begin) * n_trees + tree] = node at which the row ends, going down at most max_depth splits; with
// `node_value` (a number per node, all trees) that node's value instead.
void apply_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end,
                 std::uint32_t max_depth, const std::uint32_t* node_value, std::uint32_t* out);

// How the trees of a forest drew their rows.
struct Bagging {
  RowSampler sampler;
  std::uint64_t seed, first_tree;
  const std::uint32_t* rows;  // training rows of the matrix, sampler.n of them
};

// For the training rows begin ... end - 1 (positions in bagging.rows): sums over the trees that did not see
// the row into out[(position - begin) * n_classes + class], and the number of such trees into votes.
void predict_out_of_bag(const ForestView& forest, const Bins& bins, const Bagging& bagging, std::uint32_t begin,
                        std::uint32_t end, double* out, std::uint32_t* votes);

}  // namespace surewood
