// Arguments that the entry points of the forest engine have in common, as checked objects.
#pragma once

#include "binding/arguments.hpp"
#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"
#include "forest/in_bag.hpp"

namespace surewood::binding {

// Column blocks (n_columns, n_rows) of codes one below the other; what is read of a binned matrix.
struct BinsArgument {
  std::vector<Array<std::uint8_t>> blocks;
  Bins bins;

  explicit BinsArgument(std::vector<Array<std::uint8_t>> column_blocks);
  void check_rows(std::uint64_t begin, std::uint64_t end) const;
};

// The same with what growing needs besides: bins of every column, and row-major copies of the blocks, or none.
struct TrainingBinsArgument : BinsArgument {
  std::vector<Array<std::uint8_t>> row_blocks;
  Array<double> values;
  Array<std::int64_t> offset;
  Array<std::uint8_t> is_category, has_missing;

  TrainingBinsArgument(std::vector<Array<std::uint8_t>> column_blocks, std::vector<Array<std::uint8_t>> row_copies,
                       Array<double> bin_values, Array<std::int64_t> column_offset,
                       Array<std::uint8_t> column_is_category, Array<std::uint8_t> column_has_missing);
};

// How the trees of a forest draw their rows.
struct RowSamplerArgument {
  std::optional<Array<std::uint32_t>> units, weights, groups;
  RowSampler sampler;
  std::uint64_t seed;

  RowSamplerArgument(const std::string& sampling, std::uint64_t n_rows, std::optional<Array<std::uint32_t>> row_of_unit,
                     std::uint64_t n_draws, std::optional<Array<std::uint32_t>> row_weights, std::uint64_t forest_seed,
                     std::optional<Array<std::uint32_t>> row_groups);
};

// A grown forest; every number that a descent follows has been checked.
struct ForestArgument {
  AnyArray arrays[8];  // keeps alive what `view` points into
  ForestView view;

  ForestArgument(Array<std::uint32_t> nodes, Array<std::uint16_t> leaf_class, Array<std::uint32_t> leaf_weight,
                 Array<std::uint32_t> category_left, Array<std::uint64_t> category_set, Array<std::int64_t> node_start,
                 Array<std::int64_t> leaf_start, Array<std::int64_t> category_start, std::uint32_t n_classes,
                 std::uint32_t n_features, int word_bits);
  // The view, for a table of this many columns.
  const ForestView& for_columns(std::size_t n_columns) const;
};

// Row numbers of a matrix with n_rows rows.
const std::uint32_t* checked_rows(const Array<std::uint32_t>& rows, std::uint32_t n_rows);

}  // namespace surewood::binding
