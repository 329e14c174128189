#include "forest/bin_column.hpp"

#include <algorithm>
#include <limits>

#include "forest/bins.hpp"

namespace surewood {

void bin_column(const double* values, std::size_t n, const double* edges, std::size_t n_edges, std::uint8_t* out) {
  // Padded with +inf to one less than a power of two, the search is a few halvings without a branch on the data.
  double padded[255];
  std::uint32_t top = 1;
  while (2 * top - 1 < n_edges) top *= 2;
  std::copy_n(edges, n_edges, padded);
  std::fill(padded + n_edges, padded + (2 * top - 1), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    const double value = values[i];
    std::uint32_t at = 0;
    for (std::uint32_t half = top; half > 0; half >>= 1) at += padded[at + half - 1] < value ? half : 0;
    out[i] = value == value ? static_cast<std::uint8_t>(at) : kMissingCode;
  }
}

bool column_fits(const std::uint8_t* codes, std::size_t n, std::uint8_t last, bool missing_allowed) {
  const std::uint8_t allowed = missing_allowed ? kMissingCode : last;
  std::uint8_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong |= static_cast<std::uint8_t>((codes[i] > last) & (codes[i] != allowed));
  return !wrong;
}

}  // namespace surewood
