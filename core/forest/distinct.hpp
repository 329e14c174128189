// The distinct values of columns and how much each weighs: what binning starts from.
//
// Whole numbers of a small range are counted. Everything else is sorted, as floats of 32 bits where that loses nothing
// (most tables): two radix passes by the place in the column's range, what is left in place; where that takes too long,
// since a few values are far from the others, radix passes over all bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "forest/bin_cuts.hpp"
#include "common/number_view.hpp"

namespace surewood {

// Weights are whole numbers; rows of weight 0 are left out. Null: all weigh 1.
void distinct_values(const double* column, std::size_t n, const double* weight, Distribution& found);

// Calls found(column, distribution) for the columns [begin, end), in order. Reads them in blocks of a few megabytes.
template <class Number>
void each_distribution(const NumberView<Number>& view, std::size_t begin, std::size_t end, const double* weight,
                       const std::function<void(std::size_t, const Distribution&)>& found);

}  // namespace surewood
