// Bin codes of columns of raw numbers.
//
// The code of a value is the number of edges below it, i.e. the first bin whose edge is not below the value; NaN gives
// kMissingCode. Whole numbers are looked up in a table where the edges span a small range. Other numbers are searched
// in two steps of 16 edges each, all 16 compared at once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/number_view.hpp"

namespace surewood {

constexpr std::size_t kMostEdges = 254;

// The largest number of a type that is not above an edge: every number of that type is on the same side of both.
template <class Real>
inline Real largest_up_to(double edge) {
  const auto rounded = static_cast<Real>(edge);
  if (static_cast<double>(rounded) <= edge) return rounded;
  return std::nextafter(rounded, -std::numeric_limits<Real>::infinity());
}

// out[i] = code of values[i]. `edges` ascend and are finite; at most kMostEdges of them.
void bin_column(const double* values, std::size_t n, const double* edges, std::size_t n_edges, std::uint8_t* out);

// Codes of the columns [begin, end), each of which has edges[start[j] ... start[j + 1] - 2]; the code of row i of column
// j goes to out[j * out_stride + i].
template <class Number>
void bin_columns(const NumberView<Number>& view, std::size_t begin, std::size_t end, const double* edges,
                 const std::int64_t* start, std::uint8_t* out, std::size_t out_stride);

// Whether every code is at most `last`, or kMissingCode where that is allowed.
bool column_fits(const std::uint8_t* codes, std::size_t n, std::uint8_t last, bool missing_allowed);

}  // namespace surewood
