// Where the bins of a number column end: a function of its distinct values and their cumulative weights.
#pragma once

#include <cstddef>
#include <vector>

namespace surewood {

struct Distribution {
  std::vector<double> values;      // ascending and distinct; NaN left out, both zeros are one value
  std::vector<double> cumulative;  // weight up to and including each value: whole numbers
  void clear() {
    values.clear();
    cumulative.clear();
  }
};

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

}  // namespace surewood
