// Registers binned matrices and what is computed of single columns.
#include "binding/forest_arguments.hpp"
#include "forest/bin_column.hpp"
#include "forest/distinct.hpp"
#include "forest/flat_tree.hpp"
#include "forest/learn_bins.hpp"

namespace surewood::binding {

namespace {

constexpr std::uint64_t kMostMatrixRows = 0xFFFFFFFE;  // rows have numbers of 32 bits

std::size_t checked_columns(const Array<void>& numbers, std::size_t begin, std::size_t end) {
  const std::size_t n = numbers.ndim() == 2 ? numbers.shape(1) : 0;
  if (begin > end || end > n) throw nb::value_error("begin, end: not a range of columns");
  return n;
}

// Codes of some columns of an array, each into its row of `out`. `offset` has an entry per column and the end.
void columns_codes(const Array<void>& numbers, std::size_t begin, std::size_t end, const Array<double>& edges,
                   const Array<std::int64_t>& offset, const Output<std::uint8_t>& out) {
  const auto n = static_cast<std::int64_t>(checked_columns(numbers, begin, end));
  const auto* edge = require(edges, "edges", {-1});
  const auto* start = require(offset, "offset", {n + 1});
  for (std::size_t j = begin; j < end; ++j)
    if (start[j] < 0 || start[j + 1] - start[j] < 1 || start[j + 1] - start[j] > kMissingCode ||
        start[j + 1] > static_cast<std::int64_t>(edges.shape(0)))
      throw nb::value_error("offset: a column must have 1 to 255 bins");
  const auto n_rows = static_cast<std::int64_t>(numbers.shape(0));
  auto* codes = require(out, "out", {n, n_rows});
  with_numbers(numbers, [&](auto view) {
    nb::gil_scoped_release release;
    bin_columns(view, begin, end, edge, start, codes, static_cast<std::size_t>(n_rows));
  });
}

std::size_t checked_bins(std::size_t max_bins) {
  if (max_bins < 2 || max_bins > kMissingCode) throw nb::value_error("max_bins: must be between 2 and 255");
  return max_bins;
}

auto bins_to_numpy(LearnedBins&& learned) {
  return std::make_tuple(to_numpy(std::move(learned.bins.values)), to_numpy(std::move(learned.bins.edges)),
                         to_numpy(std::move(learned.sizes)));
}

auto columns_bins(const Array<void>& numbers, std::size_t begin, std::size_t end,
                  const std::optional<Array<double>>& weights, std::size_t max_bins,
                  const std::optional<Output<std::uint8_t>>& out) {
  const auto n = static_cast<std::int64_t>(checked_columns(numbers, begin, end));
  const double* weight = require(weights, "weights", {static_cast<std::int64_t>(numbers.shape(0))});
  checked_bins(max_bins);
  const auto n_rows = static_cast<std::int64_t>(numbers.shape(0));
  auto* codes = require(out, "out", {n, n_rows});
  LearnedBins learned;
  with_numbers(numbers, [&](auto view) {
    nb::gil_scoped_release release;
    learn_bins(view, begin, end, weight, max_bins, learned, codes);
  });
  return bins_to_numpy(std::move(learned));
}

auto distribution_bins(const Array<double>& values, const Array<double>& cumulative, std::size_t max_bins) {
  const auto* value = require(values, "values", {-1});
  const auto* total = require(cumulative, "cumulative", {static_cast<std::int64_t>(values.shape(0))});
  checked_bins(max_bins);
  LearnedBins learned;
  const Distribution column{{value, value + values.shape(0)}, {total, total + values.shape(0)}};
  learned.sizes.push_back(static_cast<std::int64_t>(add_number_bins(column, max_bins, learned.bins)));
  return bins_to_numpy(std::move(learned));
}

auto distinct(const Array<double>& values, const std::optional<Array<double>>& weights) {
  const auto* value = require(values, "values", {-1});
  const double* weight = require(weights, "weights", {static_cast<std::int64_t>(values.shape(0))});
  Distribution found;
  {
    nb::gil_scoped_release release;
    DistinctFinder().sort(value, values.shape(0), weight, found);
  }
  return std::make_tuple(to_numpy(std::move(found.values)), to_numpy(std::move(found.cumulative)));
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

BinsArgument::BinsArgument(std::vector<Array<std::uint8_t>> column_blocks) : blocks(std::move(column_blocks)) {
  if (blocks.empty()) throw nb::type_error("blocks: at least one column block is needed");
  const std::size_t n_rows = blocks[0].ndim() == 2 ? blocks[0].shape(1) : 0;
  if (n_rows > kMostMatrixRows)
    throw nb::value_error(
        ("blocks: at most 4294967294 rows have a number of 32 bits, got " + std::to_string(n_rows) + ".").c_str());
  bins.n_rows = static_cast<std::uint32_t>(n_rows);
  for (const auto& block : blocks) {
    const auto* codes = require(block, "blocks", {-1, static_cast<std::int64_t>(n_rows)});
    for (std::size_t j = 0; j < block.shape(0); ++j) bins.by_column.push_back({codes + j * n_rows, 1});
  }
  if (bins.by_column.size() >= kMaxFeatures) throw nb::value_error("blocks: more columns than a node can name");
}

void BinsArgument::check_rows(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || end > bins.n_rows) throw nb::value_error("begin, end: not a range of rows");
}

TrainingBinsArgument::TrainingBinsArgument(std::vector<Array<std::uint8_t>> column_blocks,
                                           std::vector<Array<std::uint8_t>> row_copies, Array<double> bin_values,
                                           Array<std::int64_t> column_offset, Array<std::uint8_t> column_is_category,
                                           Array<std::uint8_t> column_has_missing)
    : BinsArgument(std::move(column_blocks)),
      row_blocks(std::move(row_copies)),
      values(std::move(bin_values)),
      offset(std::move(column_offset)),
      is_category(std::move(column_is_category)),
      has_missing(std::move(column_has_missing)) {
  if (!row_blocks.empty() && row_blocks.size() != blocks.size())
    throw nb::type_error("row_blocks: one for each block, or none");
  for (std::size_t k = 0; k < row_blocks.size(); ++k) {
    const std::size_t width = blocks[k].shape(0);
    const auto* rows = require(
        row_blocks[k], "row_blocks", {static_cast<std::int64_t>(bins.n_rows), static_cast<std::int64_t>(width)});
    for (std::size_t j = 0; j < width; ++j) bins.by_row.push_back({rows + j, width});
  }
  const std::int64_t n = bins.n_columns();
  const auto* value = require(values, "values", {-1});
  const auto* start = require(offset, "offset", {n + 1});
  const auto* category = require(is_category, "is_category", {n});
  const auto* missing = require(has_missing, "has_missing", {n});
  if (start[0] != 0 || start[n] != static_cast<std::int64_t>(values.shape(0)))
    throw nb::value_error("offset: must begin with 0 and end at the length of values");
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t size = start[j + 1] - start[j];
    if (size < 1 || size > kMissingCode) throw nb::value_error("offset: a column must have 1 to 255 bins");
    bins.info.push_back({value + start[j], category[j] != 0, missing[j] != 0, size <= 64 && !missing[j]});
  }
}

const std::uint32_t* checked_rows(const Array<std::uint32_t>& rows, std::uint32_t n_rows) {
  const auto* row = require(rows, "rows", {-1});
  if (rows.shape(0) > kMostMatrixRows) throw nb::value_error("rows: more than have a number of 32 bits");
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    if (row[i] >= n_rows) throw nb::value_error("rows: an index is past the last row of the matrix");
  return row;
}

void register_bins(nb::module_& module) {
  nb::class_<BinsArgument>(module, "Bins", "The codes of a binned matrix, in column blocks.")
      .def(nb::init<std::vector<Array<std::uint8_t>>>(), "blocks"_a);
  nb::class_<TrainingBinsArgument, BinsArgument>(module, "TrainingBins", "The same, with the bins of every column.")
      .def(nb::init<std::vector<Array<std::uint8_t>>, std::vector<Array<std::uint8_t>>, Array<double>,
                    Array<std::int64_t>, Array<std::uint8_t>, Array<std::uint8_t>>(),
           nb::kw_only(), "blocks"_a, "row_blocks"_a, "values"_a, "offset"_a,
           "is_category"_a, "has_missing"_a);
  module.def("codes_fit", &codes_fit, "bins"_a, "Whether every code is a bin of its column or a missing value.");
  module.def("row_keys", &content_keys, "bins"_a, "A number for the codes of each row.");
  module.def("bin_columns", &columns_codes, "numbers"_a, "begin"_a, "end"_a, "edges"_a,
             "offset"_a, "out"_a,
             "Bin codes of some columns: the first bin whose edge is not below the value; NaN is 255.");
  module.def("number_bins", &columns_bins, "numbers"_a, "begin"_a, "end"_a, "weights"_a.none(),
             "max_bins"_a, "out"_a.none() = nb::none(),
             "Values and edges of the bins of some columns, and the number of bins of each; their codes into `out`.");
  module.def("distribution_bins", &distribution_bins, "values"_a, "cumulative"_a, "max_bins"_a,
             "The same for one column of these distinct values, which have this weight up to each.");
  module.def("distinct_values", &distinct, "values"_a, "weights"_a.none(),
             "Distinct known values of a column, ascending, and the weight up to each.");
}

}  // namespace surewood::binding
