// A two-dimensional array of numbers as NumPy holds it: any type, any strides. Nothing here owns memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surewood {

template <class Number>
struct NumberView {
  const Number* data;
  std::size_t n_rows;
  std::ptrdiff_t row_stride, column_stride;  // in numbers
  const Number* at(std::size_t row, std::size_t column) const {
    return data + static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride;
  }
};

// Rows [begin, begin + n) of a column, one after another.
template <class Number, class Out>
inline void copy_column(const NumberView<Number>& view, std::size_t column, std::size_t begin, std::size_t n, Out* out) {
  const Number* from = view.at(begin, column);
  const std::ptrdiff_t stride = view.row_stride;
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(from[static_cast<std::ptrdiff_t>(i) * stride]);
}

// Rows read at once from each column of a block, so that a line of memory with several columns is fetched once.
constexpr std::size_t kTileRows = 256;

// Expands X(type) for the types of numbers that are read as they are.
#define SUREWOOD_FOR_NUMBERS(X) \
  X(std::uint8_t)               \
  X(std::int8_t)                \
  X(std::uint16_t)              \
  X(std::int16_t)               \
  X(std::uint32_t)              \
  X(std::int32_t)               \
  X(std::uint64_t)              \
  X(std::int64_t)               \
  X(float)                      \
  X(double)

}  // namespace surewood
