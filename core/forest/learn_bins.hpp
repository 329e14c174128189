// Bins learned from columns of raw numbers and, in the same reading, the codes of these numbers.
//
// Columns of another layout are copied one after another, a block at a time. Numbers that are neither bytes nor whole
// and have no weights are spread over buckets (placed_numbers.hpp); where that does not work, and for all others, the
// distinct values are found (distinct.hpp) and the codes searched (bin_column.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/number_view.hpp"
#include "forest/bin_cuts.hpp"

namespace surewood {

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
