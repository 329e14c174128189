// Registers the growth of trees: options as one object with named fields, then one call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "binding/choices.hpp"
#include "binding/forest_arguments.hpp"
#include "binding/registers.hpp"
#include "forest/tree_builder.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

struct GrowOptionsArgument : GrowOptions {
  GrowOptionsArgument(const std::string& splitter_name, const std::string& criterion_name,
                      std::optional<std::int64_t> depth, std::int64_t depth_of_stop, std::int64_t rows_of_stop,
                      std::int64_t samples_split, std::int64_t samples_leaf, double weight_fraction_leaf,
                      double impurity_decrease, std::int64_t features, double weight_of_row, bool fast) {
    constexpr std::int64_t kMost = 0xFFFFFFFE;
    splitter = choice<Splitter>(
        splitter_name, "splitter",
        {{"best", Splitter::kBest}, {"random", Splitter::kRandom}, {"completely_random", Splitter::kCompletelyRandom}});
    criterion = choice<CriterionKind>(
        criterion_name, "criterion",
        {{"gini", CriterionKind::kGini}, {"entropy", CriterionKind::kEntropy}, {"log_loss", CriterionKind::kEntropy}});
    if (depth) max_depth = static_cast<std::uint32_t>(within<std::int64_t>(*depth, "max_depth", 0, kMost));
    stop_depth = static_cast<std::uint32_t>(within<std::int64_t>(depth_of_stop, "stop_depth", 0, kMost));
    stop_rows = static_cast<std::uint32_t>(within<std::int64_t>(rows_of_stop, "stop_rows", 0, kMost));
    min_samples_split = static_cast<std::uint32_t>(within<std::int64_t>(samples_split, "min_samples_split", 0, kMost));
    min_samples_leaf = static_cast<std::uint32_t>(within<std::int64_t>(samples_leaf, "min_samples_leaf", 0, kMost));
    min_weight_fraction_leaf = within<double>(weight_fraction_leaf, "min_weight_fraction_leaf", 0.0, 1.0);
    min_impurity_decrease = within<double>(impurity_decrease, "min_impurity_decrease", 0.0, HUGE_VAL);
    max_features = static_cast<std::uint32_t>(within<std::int64_t>(features, "max_features", 1, kMost));
    row_weight = within<double>(weight_of_row, "row_weight", 0.0, 4294967296.0);
    fast_kernels = fast;
  }
};

nb::tuple grow(const TrainingBinsArgument& bins, const AnyArray& labels, std::uint32_t n_classes, const AnyArray& rows,
               const std::optional<AnyArray>& weights, const DrawArgument& draw, const GrowOptionsArgument& own_options,
               std::uint64_t first_tree, std::uint32_t n_trees) {
  TrainingSet training;
  training.bins = &bins.bins;
  training.label = require<std::uint16_t>(labels, "labels", {static_cast<std::int64_t>(bins.bins.n_rows)});
  training.n_classes = within<std::uint32_t>(n_classes, "n_classes", 1, 65535);
  training.rows = checked_rows(rows, bins.bins.n_rows);
  training.n = static_cast<std::uint32_t>(rows.shape(0));
  if (weights)
    training.weight = require<std::uint32_t>(*weights, "weights", {static_cast<std::int64_t>(rows.shape(0))});
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (training.label[training.rows[i]] >= n_classes) throw nb::value_error("labels: a label is not below n_classes");
    if (training.weight && training.weight[i] == 0) throw nb::value_error("weights: must be positive");
  }
  GrowOptions options = own_options;
  options.lottery = draw.lottery;
  if (options.lottery.n != training.n) throw nb::value_error("draw: not for this number of rows");
  TreeArrays out;
  std::vector<double> importance(bins.bins.n_columns(), 0.0);
  const auto interrupted = [] {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
  };
  bool done;
  {
    nb::gil_scoped_release release;
    done = grow_trees(training, options, draw.seed, first_tree, n_trees, interrupted, out, importance.data());
  }
  if (!done) throw nb::python_error();
  return nb::make_tuple(to_numpy_rows<std::uint32_t, 2>(std::move(out.nodes)), to_numpy(std::move(out.leaf_class)),
                        to_numpy(std::move(out.leaf_weight)), to_numpy(std::move(out.category_left)),
                        to_numpy_rows<std::uint64_t, 4>(std::move(out.category_set)),
                        to_numpy(std::move(out.node_start)), to_numpy(std::move(out.leaf_start)),
                        to_numpy(std::move(out.category_start)), to_numpy(std::move(importance)));
}

}  // namespace

void register_growing(nb::module_& module) {
  nb::class_<GrowOptionsArgument>(module, "GrowOptions", "How trees are grown; the names of scikit-learn's forests.")
      .def(nb::init<const std::string&, const std::string&, std::optional<std::int64_t>, std::int64_t, std::int64_t,
                    std::int64_t, std::int64_t, double, double, std::int64_t, double, bool>(),
           nb::kw_only(), "splitter"_a, "criterion"_a, "max_depth"_a.none(), "stop_depth"_a, "stop_rows"_a,
           "min_samples_split"_a, "min_samples_leaf"_a, "min_weight_fraction_leaf"_a, "min_impurity_decrease"_a,
           "max_features"_a, "row_weight"_a, "fast_kernels"_a);
  module.def("grow_trees", &grow, "bins"_a, "labels"_a.noconvert(), "n_classes"_a, "rows"_a.noconvert(),
             "weights"_a.noconvert().none(), "draw"_a, "options"_a, "first_tree"_a, "n_trees"_a,
             "Grow a batch of trees; the eight arrays of a forest and the summed importances.");
}

}  // namespace surewood::binding
