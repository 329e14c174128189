// Bin codes of one column of raw numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surewood {

// out[i] = number of edges < values[i], i.e. the first bin whose edge is >= the value; NaN gives kMissingCode.
// `edges` ascend; at most 254 of them.
void bin_column(const double* values, std::size_t n, const double* edges, std::size_t n_edges, std::uint8_t* out);

// Whether every code is at most `last`, or kMissingCode where that is allowed.
bool column_fits(const std::uint8_t* codes, std::size_t n, std::uint8_t last, bool missing_allowed);

}  // namespace surewood
