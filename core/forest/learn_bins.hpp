// Bins learned from columns of raw numbers and, in the same reading, the codes of these numbers.
//
// Columns of another layout are copied one after another, a block at a time. Numbers that are neither bytes nor whole
// and have no weights are spread over buckets (placed_numbers.hpp); where that does not work, and for all others, the
// distinct values are found (distinct.hpp) and the codes searched (bin_column.hpp).
//
// Where bins end is a function of the distinct values of a column and their cumulative weights (add_number_bins).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/number_view.hpp"
#include "forest/distinct.hpp"

namespace surewood {

struct NumberBins {
  std::vector<double> values;  // a representative value per bin: its weighted lower median
  std::vector<double> edges;   // the largest number that belongs to the bin; infinite for the last one
};

// Where a bin ends between two neighbouring values. Halves first: the sum of two large numbers may overflow. Rounding
// must not move the edge past the value it has to exclude (neighbouring floats).
inline double edge_between(double value, double next) {
  const double edge = value * 0.5 + next * 0.5;
  return edge >= next ? value : edge;
}

// A bin per value up to `max_bins` values. Beyond, values as heavy as a bin stand alone and the rest is cut into bins of
// about equal weight. One bin if there is no value. The bins are appended to `out`; returns their number.
std::size_t add_number_bins(const Distribution& column, std::size_t max_bins, NumberBins& out);

struct LearnedBins {
  NumberBins bins;                  // of one column after another
  std::vector<std::int64_t> sizes;  // number of bins of each
};

// Learns the columns [begin, end). `weight`: whole numbers, rows of weight 0 are left out; null: all weigh 1. Where
// `codes` is not null, the codes of column j go to codes[j * n_rows ...].
template <class Number>
void learn_bins(const NumberView<Number>& view, std::size_t begin, std::size_t end, const double* weight,
                std::size_t max_bins, LearnedBins& out, std::uint8_t* codes);

}  // namespace surewood
