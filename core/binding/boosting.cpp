// Registers boosting and the scores of boosted trees.
#include <chrono>
#include <cmath>

#include "binding/forest_arguments.hpp"
#include "binding/stop.hpp"
#include "forest/bin_column.hpp"
#include "forest/boosting/boosted_predict.hpp"
#include "forest/boosting/boosting.hpp"

namespace surewood::binding {

namespace {

struct BoostingOptionsArgument : BoostingOptions {
  BoostingOptionsArgument(bool symmetric_trees, std::uint32_t tree_depth, std::uint32_t leaves, std::uint32_t rounds,
                          std::uint32_t rounds_without_gain, double rate, double l2_regularization,
                          double least_hessian, std::uint32_t rows_of_leaf, double penalty_of_leaf, double penalty_of_split,
                          std::uint32_t columns_of_tree, double fraction_of_rows, std::uint64_t forest_seed) {
    constexpr std::uint32_t kMost = 0x7FFFFFFF;
    symmetric = symmetric_trees;
    depth = within<std::uint32_t>(tree_depth, "depth", 1, 8);
    max_leaves = within<std::uint32_t>(leaves, "max_leaves", 2, kMost);
    n_rounds = rounds;
    patience = within<std::uint32_t>(rounds_without_gain, "patience", 1, kMost);
    learning_rate = within<double>(rate, "learning_rate", 0.0, 1e6);
    l2 = within<double>(l2_regularization, "l2", 0.0, 1e12);
    min_hessian = within<double>(least_hessian, "min_hessian", 0.0, 1e12);
    min_rows = within<std::uint32_t>(rows_of_leaf, "min_rows", 1, kMost);
    leaf_penalty = within<double>(penalty_of_leaf, "leaf_penalty", 0.0, HUGE_VAL);
    split_penalty = within<double>(penalty_of_split, "split_penalty", 0.0, HUGE_VAL);
    columns_per_tree = within<std::uint32_t>(columns_of_tree, "columns_per_tree", 1, kMost);
    row_fraction = within<double>(fraction_of_rows, "row_fraction", 0.0, 1.0);
    seed = forest_seed;
  }
};

// Codes beyond the bins of their column would be counted outside of its histogram.
void check_columns(const BoostingRows& rows) {
  for (std::uint32_t i = 0; i < rows.n_columns; ++i) {
    const std::uint32_t j = rows.columns[i];
    if (j >= rows.bins->n_columns()) throw nb::value_error("columns: a number that is no column");
    if (rows.n_bins[j] < 1 || rows.n_bins[j] > kMissingCode)
      throw nb::value_error("n_bins: a column must have 1 to 255 bins");
    if (!column_fits(rows.bins->by_column[j].codes, rows.bins->n_rows, static_cast<std::uint8_t>(rows.n_bins[j] - 1),
                     rows.has_missing[j]))
      throw nb::value_error("bins: a code is no bin of its column");
    if (rows.monotone && (rows.monotone[j] < -1 || rows.monotone[j] > 1))
      throw nb::value_error("monotone: must be -1, 0 or 1");
  }
}

void check_rows(const BoostingRows& rows) {
  bool training = false;
  for (std::uint32_t row = 0; row < rows.bins->n_rows; ++row) {
    const auto role = static_cast<std::uint8_t>(rows.role[row]);
    if (role > 2) throw nb::value_error("role: must be 0, 1 or 2");
    if (role == 0) continue;
    training |= role == 1;
    if (rows.label[row] >= rows.n_classes) throw nb::value_error("labels: a label is not below n_classes");
    if (rows.weight && !(rows.weight[row] > 0.0 && rows.weight[row] <= 1e300))
      throw nb::value_error("weights: must be positive and finite");
  }
  if (!training) throw nb::value_error("role: there is no training row");
}

auto boosted(const BinsArgument& bins, const Array<std::uint8_t>& n_bins, const Array<std::uint8_t>& has_missing,
             const std::optional<Array<std::int8_t>>& monotone, const Array<std::uint32_t>& columns,
             const Array<std::uint16_t>& labels, std::uint32_t n_classes, const std::optional<Array<double>>& weights,
             const Array<std::uint64_t>& keys, const Array<std::uint8_t>& role, const Array<double>& baseline,
             const BoostingOptionsArgument& options, double seconds, const Array<std::uint8_t>& stop) {
  const auto n_rows = static_cast<std::int64_t>(bins.bins.n_rows);
  const auto n_columns = static_cast<std::int64_t>(bins.bins.n_columns());
  BoostingRows rows;
  rows.bins = &bins.bins;
  rows.n_bins = require(n_bins, "n_bins", {n_columns});
  rows.has_missing = require(has_missing, "has_missing", {n_columns});
  rows.columns = require(columns, "columns", {-1});
  rows.n_columns = static_cast<std::uint32_t>(columns.shape(0));
  rows.label = require(labels, "labels", {n_rows});
  rows.n_classes = within<std::uint32_t>(n_classes, "n_classes", 2, 65535);
  rows.key = require(keys, "keys", {n_rows});
  rows.role = reinterpret_cast<const Role*>(require(role, "role", {n_rows}));
  rows.weight = require(weights, "weights", {n_rows});
  rows.monotone = require(monotone, "monotone", {n_columns});
  if (monotone && n_classes != 2) throw nb::value_error("monotone: for two classes only");
  const auto* scores = require(baseline, "baseline", {output_count(n_classes)});
  if (rows.n_columns == 0) throw nb::value_error("columns: there is no column");
  check_columns(rows);
  check_rows(rows);
  PythonStop asked(stop);
  BoostedTrees trees;
  {
    nb::gil_scoped_release release;
    const auto begun = std::chrono::steady_clock::now();
    const auto stopped = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() > seconds ||
             asked.requested();
    };
    trees = boost(rows, options, scores, stopped);
  }
  if (asked.requested()) PythonStop::raise();
  return std::make_tuple(to_numpy_rows<std::uint32_t, 2>(std::move(trees.nodes)), to_numpy(std::move(trees.values)),
                        to_numpy(std::move(trees.node_start)), to_numpy(std::move(trees.gains)),
                        to_numpy(std::move(trees.losses)));
}

void scores(const ForestArgument& forest, const Array<float>& values, const BinsArgument& bins, std::uint32_t begin,
            std::uint32_t end, const Output<double>& out) {
  const ForestView& view = forest.for_columns(bins.bins.n_columns());
  if (view.word_bits) throw nb::value_error("forest: boosted trees have whole nodes");
  const auto* value = require(values, "values", {view.node_start[view.n_trees], -1});
  bins.check_rows(begin, end);
  const auto n_outputs = static_cast<std::uint32_t>(values.shape(1));
  auto* sums = require(out, "out", {end - begin, n_outputs});
  nb::gil_scoped_release release;
  add_boosted_scores(view, value, n_outputs, bins.bins, begin, end, sums);
}

}  // namespace

void register_boosting(nb::module_& module) {
  nb::class_<BoostingOptionsArgument>(module, "BoostingOptions", "How boosted trees are grown.")
      .def(nb::init<bool, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, double, double, double,
                    std::uint32_t, double, double, std::uint32_t, double, std::uint64_t>(),
           nb::kw_only(), "symmetric"_a, "depth"_a, "max_leaves"_a, "n_rounds"_a, "patience"_a, "learning_rate"_a,
           "l2"_a, "min_hessian"_a, "min_rows"_a, "leaf_penalty"_a, "split_penalty"_a, "columns_per_tree"_a,
           "row_fraction"_a, "seed"_a);
  module.def("boost", &boosted, "bins"_a, "n_bins"_a, "has_missing"_a,
             "monotone"_a.none(), "columns"_a, "labels"_a, "n_classes"_a,
             "weights"_a.none(), "keys"_a, "role"_a, "baseline"_a,
             "options"_a, "seconds"_a, "stop"_a,
             "Boosted trees of the rows of role 1, stopped by those of role 2: nodes, values, starts, gains, losses.");
  module.def("add_boosted_scores", &scores, "forest"_a, "values"_a, "bins"_a, "begin"_a, "end"_a, "out"_a,
             "Add the values of the leaves of rows begin..end to `out`.");
}

}  // namespace surewood::binding
