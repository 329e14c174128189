#include "forest/criterion.hpp"

#include <array>
#include <cmath>

namespace surewood {

namespace {

// log2 of w >= 1: the exponent is exact; the mantissa m in [0.71, 1.42) through the series of
// log((1+z)/(1-z)), |z| < 0.172, 15 terms: below one unit of the last place of the sum.
double log2_of(double w) {
  int exponent = 0;
  w = std::frexp(w, &exponent) * 2.0;  // in [1, 2): powers of two are exact
  --exponent;
  if (w >= 1.4142135623730951) {
    w *= 0.5;
    ++exponent;
  }
  double z = (w - 1.0) / (w + 1.0), z2 = z * z, sum = 0.0;
  for (int k = 29; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return exponent + 2.0 * z * sum * 1.4426950408889634;
}

std::array<std::int64_t, kLogTable> make_table() {
  std::array<std::int64_t, kLogTable> table{};
  for (std::uint32_t w = 1; w < kLogTable; ++w) table[w] = weight_log2_series(w);
  return table;
}

const std::array<std::int64_t, kLogTable> table = make_table();

}  // namespace

const std::int64_t* const weight_log2_table = table.data();

std::int64_t weight_log2_series(std::uint32_t w) {
  if (w < 2) return 0;
  double value = static_cast<double>(w) * log2_of(static_cast<double>(w));
  return static_cast<std::int64_t>(value * static_cast<double>(1 << kLogFraction) + 0.5);
}

}  // namespace surewood
