// Arguments that the entry points of the forest engine have in common, as checked objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "binding/arrays.hpp"
#include "forest/bins.hpp"
#include "forest/forest_view.hpp"
#include "forest/in_bag.hpp"

namespace surewood::binding {

// Column blocks (n_columns, n_rows) of codes one below the other; what is read of a binned matrix.
struct BinsArgument {
  std::vector<AnyArray> blocks;
  Bins bins;

  explicit BinsArgument(std::vector<AnyArray> own_blocks);
  void check_rows(std::uint64_t begin, std::uint64_t end) const;
};

// The same with what growing needs besides: bins of every column, and row-major copies of the blocks, or none.
struct TrainingBinsArgument : BinsArgument {
  std::vector<AnyArray> row_blocks;
  AnyArray values, offset, is_category, has_missing;

  TrainingBinsArgument(std::vector<AnyArray> own_blocks, std::vector<AnyArray> own_row_blocks, AnyArray own_values,
                       AnyArray own_offset, AnyArray own_is_category, AnyArray own_has_missing);
};

// How the trees of a forest draw their rows.
struct DrawArgument {
  std::optional<AnyArray> units, odds, groups;
  Lottery lottery;
  std::uint64_t seed;

  DrawArgument(const std::string& sampling, std::uint64_t n_rows, std::optional<AnyArray> own_units,
               std::uint64_t n_draws, std::optional<AnyArray> own_odds, std::uint64_t own_seed,
               std::optional<AnyArray> own_groups);
};

// A forest for a table of this many columns (binding/forest.cpp).
ForestView forest_for(const nb::tuple& parts, std::size_t n_columns);

// Row numbers of a matrix with n_rows rows.
const std::uint32_t* checked_rows(const AnyArray& rows, std::uint32_t n_rows);

}  // namespace surewood::binding
