// The distinct values of columns and how much each weighs: what binning starts from.
//
// Whole numbers of a small range are counted. Everything else is sorted, as floats of 32 bits where that loses nothing
// (most tables): two radix passes by the place in the column's range, what is left in place; where that takes too long,
// since a few values are far from the others, radix passes over all bits.
//
// Weights are whole numbers; rows of weight 0 are left out. Null: all weigh 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/number_view.hpp"

namespace surewood {

struct Distribution {
  std::vector<double> values;      // ascending and distinct; NaN left out, both zeros are one value
  std::vector<double> cumulative;  // weight up to and including each value: whole numbers
  void clear() {
    values.clear();
    cumulative.clear();
  }
};

// Has room that is used again for each column.
class DistinctFinder {
 public:
  DistinctFinder();
  ~DistinctFinder();

  // False if the column has other numbers than whole ones of a small range.
  template <class Number>
  bool count(const Number* column, std::size_t n, const double* weight, Distribution& found);

  template <class Number>
  void sort(const Number* column, std::size_t n, const double* weight, Distribution& found);

 private:
  struct Room;
  std::unique_ptr<Room> room_;
};

// Bytes are counted as they lie, a block of columns together: found(column, distribution) for the columns [begin, end).
template <class Byte>
void count_bytes(const NumberView<Byte>& view, std::size_t begin, std::size_t end, const double* weight,
                 const std::function<void(std::size_t, const Distribution&)>& found);

}  // namespace surewood
