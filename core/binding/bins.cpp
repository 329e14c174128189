// Registers binned matrices and what is computed of single columns.
#include <nanobind/stl/vector.h>

#include "binding/choices.hpp"
#include "binding/forest_arguments.hpp"
#include "binding/registers.hpp"
#include "forest/bin_column.hpp"
#include "forest/distinct.hpp"
#include "forest/node_codec.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

constexpr std::uint64_t kMostMatrixRows = 0xFFFFFFFE;  // rows have numbers of 32 bits

void column_codes(const AnyArray& values, const AnyArray& edges, const WritableArray& out) {
  const auto* value = require<double>(values, "values", {-1});
  const auto* edge = require<double>(edges, "edges", {-1});
  if (edges.shape(0) > 254) throw nb::value_error("edges: at most 254");
  auto* codes = require_out<std::uint8_t>(out, "out", {static_cast<std::int64_t>(values.shape(0))});
  nb::gil_scoped_release release;
  bin_column(value, values.shape(0), edge, edges.shape(0), codes);
}

nb::tuple distinct(const AnyArray& values) {
  const auto* value = require<double>(values, "values", {-1});
  Distinct found;
  {
    nb::gil_scoped_release release;
    found = distinct_values(value, values.shape(0));
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), to_numpy(std::move(found.cumulative)));
}

auto content_keys(const BinsArgument& argument) {
  std::vector<std::uint64_t> keys;
  {
    nb::gil_scoped_release release;
    keys = row_keys(argument.bins);
  }
  return to_numpy(std::move(keys));
}

// Whether every code is a bin of its column, or missing where the column may have missing values.
bool codes_fit(const TrainingBinsArgument& argument) {
  const auto* start = static_cast<const std::int64_t*>(argument.offset.data());
  nb::gil_scoped_release release;
  for (std::uint32_t j = 0; j < argument.bins.n_columns(); ++j) {
    const auto last = static_cast<std::uint8_t>(start[j + 1] - start[j] - 1);
    const bool missing = argument.bins.info[j].has_missing;
    if (!column_fits(argument.bins.by_column[j].codes, argument.bins.n_rows, last, missing)) return false;
  }
  return true;
}

}  // namespace

BinsArgument::BinsArgument(std::vector<AnyArray> own_blocks) : blocks(std::move(own_blocks)) {
  if (blocks.empty()) throw nb::type_error("blocks: at least one column block is needed");
  const std::size_t n_rows = blocks[0].ndim() == 2 ? blocks[0].shape(1) : 0;
  if (n_rows > kMostMatrixRows)
    throw nb::value_error(
        ("blocks: at most 4294967294 rows have a number of 32 bits, got " + std::to_string(n_rows) + ".").c_str());
  bins.n_rows = static_cast<std::uint32_t>(n_rows);
  for (const AnyArray& block : blocks) {
    const auto* codes = require<std::uint8_t>(block, "blocks", {-1, static_cast<std::int64_t>(n_rows)});
    for (std::size_t j = 0; j < block.shape(0); ++j) bins.by_column.push_back({codes + j * n_rows, 1});
  }
  if (bins.by_column.size() >= kMaxFeatures) throw nb::value_error("blocks: more columns than a node can name");
}

void BinsArgument::check_rows(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || end > bins.n_rows) throw nb::value_error("begin, end: not a range of rows");
}

TrainingBinsArgument::TrainingBinsArgument(std::vector<AnyArray> own_blocks, std::vector<AnyArray> own_row_blocks,
                                           AnyArray own_values, AnyArray own_offset, AnyArray own_is_category,
                                           AnyArray own_has_missing)
    : BinsArgument(std::move(own_blocks)),
      row_blocks(std::move(own_row_blocks)),
      values(std::move(own_values)),
      offset(std::move(own_offset)),
      is_category(std::move(own_is_category)),
      has_missing(std::move(own_has_missing)) {
  if (!row_blocks.empty() && row_blocks.size() != blocks.size())
    throw nb::type_error("row_blocks: one for each block, or none");
  for (std::size_t k = 0; k < row_blocks.size(); ++k) {
    const std::size_t width = blocks[k].shape(0);
    const auto* rows = require<std::uint8_t>(
        row_blocks[k], "row_blocks", {static_cast<std::int64_t>(bins.n_rows), static_cast<std::int64_t>(width)});
    for (std::size_t j = 0; j < width; ++j) bins.by_row.push_back({rows + j, width});
  }
  const std::int64_t n = bins.n_columns();
  const auto* value = require<double>(values, "values", {-1});
  const auto* start = require<std::int64_t>(offset, "offset", {n + 1});
  const auto* category = require<std::uint8_t>(is_category, "is_category", {n});
  const auto* missing = require<std::uint8_t>(has_missing, "has_missing", {n});
  if (start[0] != 0 || start[n] != static_cast<std::int64_t>(values.shape(0)))
    throw nb::value_error("offset: must begin with 0 and end at the length of values");
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t size = start[j + 1] - start[j];
    if (size < 1 || size > kMissingCode) throw nb::value_error("offset: a column must have 1 to 255 bins");
    bins.info.push_back({value + start[j], category[j] != 0, missing[j] != 0, size <= 64 && !missing[j]});
  }
}

const std::uint32_t* checked_rows(const AnyArray& rows, std::uint32_t n_rows) {
  const auto* row = require<std::uint32_t>(rows, "rows", {-1});
  if (rows.shape(0) > kMostMatrixRows) throw nb::value_error("rows: more than have a number of 32 bits");
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    if (row[i] >= n_rows) throw nb::value_error("rows: an index is past the last row of the matrix");
  return row;
}

void register_bins(nb::module_& module) {
  nb::class_<BinsArgument>(module, "Bins", "The codes of a binned matrix, in column blocks.")
      .def(nb::init<std::vector<AnyArray>>(), "blocks"_a);
  nb::class_<TrainingBinsArgument, BinsArgument>(module, "TrainingBins", "The same, with the bins of every column.")
      .def(nb::init<std::vector<AnyArray>, std::vector<AnyArray>, AnyArray, AnyArray, AnyArray, AnyArray>(),
           nb::kw_only(), "blocks"_a, "row_blocks"_a, "values"_a.noconvert(), "offset"_a.noconvert(),
           "is_category"_a.noconvert(), "has_missing"_a.noconvert());
  module.def("codes_fit", &codes_fit, "bins"_a, "Whether every code is a bin of its column or a missing value.");
  module.def("row_keys", &content_keys, "bins"_a, "A number for the codes of each row.");
  module.def("bin_column", &column_codes, "values"_a.noconvert(), "edges"_a.noconvert(), "out"_a,
             "Bin codes of a column: the first bin whose edge is not below the value; NaN is 255.");
  module.def("distinct_values", &distinct, "values"_a.noconvert(),
             "Distinct known values of a column, ascending, and the number of entries up to each.");
}

}  // namespace surewood::binding
