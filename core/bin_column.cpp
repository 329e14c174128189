#include "bin_column.hpp"

#include <algorithm>
#include <limits>

#include "bins.hpp"

namespace surewood {

void bin_column(const double* values, std::size_t n, const double* edges, std::size_t n_edges, std::uint8_t* out) {
  // Padded to 255 with +inf, the search is eight halvings without a branch on the data.
  double padded[255];
  std::copy_n(edges, n_edges, padded);
  std::fill(padded + n_edges, padded + 255, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    double value = values[i];
    std::uint32_t at = 0;
    for (std::uint32_t half = 128; half > 0; half >>= 1) at += padded[at + half - 1] < value ? half : 0;
    out[i] = value == value ? static_cast<std::uint8_t>(at) : kMissingCode;
  }
}

}  // namespace surewood
