// Read-only view of a matrix of uint8 bin codes, in one or several column blocks.
//
// Every column has its own pointer and row stride, so a forest can be grown on a base block plus a few
// appended columns without copying the base. Two layouts may stand side by side: `by_column` (stride 1,
// always there) and `by_row` (a row-major copy, empty when there is none), which small nodes of data
// larger than the cache prefer. Nothing here owns memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace surewood {

constexpr std::uint8_t kMissingCode = 255;  // ordinary bins are 0 ... 254

struct ColumnView {
  const std::uint8_t* codes;
  std::size_t stride;
  std::uint8_t operator[](std::uint32_t row) const { return codes[row * stride]; }
};

struct ColumnInfo {
  const double* values;  // one representative raw value a bin, ascending (unused for categories)
  bool is_category;
  bool has_missing;
  bool few_bins;  // at most 64 bins and nothing missing: one word holds the set of its codes
};

struct Bins {
  std::uint32_t n_rows = 0;
  std::vector<ColumnView> by_column;
  std::vector<ColumnView> by_row;
  std::vector<ColumnInfo> info;
  std::uint32_t n_columns() const { return static_cast<std::uint32_t>(by_column.size()); }
};

// Which layout a node of n rows reads.
class Layout {
 public:
  explicit Layout(const Bins& bins) : bins_(bins) {
    if (!bins.by_row.empty())
      by_row_below_ = static_cast<std::uint32_t>(bins.n_rows / std::sqrt(double(bins.n_columns())));
  }
  const std::vector<ColumnView>& columns(std::uint32_t n) const {
    return n < by_row_below_ ? bins_.by_row : bins_.by_column;
  }

 private:
  const Bins& bins_;
  std::uint32_t by_row_below_ = 0;
};

}  // namespace surewood
