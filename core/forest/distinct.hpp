// The distinct values of a column and how often each occurs: what binning starts from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surewood {

struct Distinct {
  std::vector<double> values;            // ascending; NaN left out, both zeros are one value
  std::vector<std::int64_t> cumulative;  // number of entries up to and including each value
};

// Radix sort of the bit patterns: three passes when every value is a float32 (most tables), six otherwise.
Distinct distinct_values(const double* column, std::size_t n);

}  // namespace surewood
