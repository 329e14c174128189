// Registers how trees draw their rows and how they are grown: options as objects with named fields, then one call.
#include <algorithm>
#include <cmath>

#include "binding/forest_arguments.hpp"
#include "forest/tree_builder.hpp"

namespace surewood::binding {

namespace {

std::uint32_t count_that_fits(std::uint64_t count, const char* name) {
  return static_cast<std::uint32_t>(within<std::uint64_t>(count, name, 0, 0xFFFFFFFE));
}

}  // namespace

RowSamplerArgument::RowSamplerArgument(const std::string& sampling, std::uint64_t n_rows,
                                       std::optional<Array<std::uint32_t>> row_of_unit, std::uint64_t n_draws,
                                       std::optional<Array<std::uint32_t>> row_weights, std::uint64_t forest_seed,
                                       std::optional<Array<std::uint32_t>> row_groups)
    : units(std::move(row_of_unit)),
      weights(std::move(row_weights)),
      groups(std::move(row_groups)),
      seed(forest_seed) {
  sampler.sampling = choice<Sampling>(sampling, "sampling",
                                      {{"all", Sampling::kAll},
                                       {"bootstrap", Sampling::kBootstrap},
                                       {"subsample", Sampling::kSubsample},
                                       {"resample", Sampling::kResample}});
  sampler.n = count_that_fits(n_rows, "n_rows");
  sampler.n_draws = count_that_fits(n_draws, "n_draws");
  if (sampler.n == 0) throw nb::value_error("n_rows: a tree needs at least one row");
  sampler.units = require(units, "units", {-1});
  if (units) {
    sampler.n_units = count_that_fits(units->shape(0), "the number of units");
    if (sampler.n_units == 0) throw nb::value_error("units: at least one is needed");
    for (std::uint32_t i = 0; i < sampler.n_units; ++i)
      if (sampler.units[i] >= sampler.n) throw nb::value_error("units: a unit belongs to no row");
  }
  sampler.weight = require(weights, "weights", {static_cast<std::int64_t>(sampler.n)});
  sampler.group = require(groups, "groups", {static_cast<std::int64_t>(sampler.n)});
  if (groups) {
    if (weights) throw nb::value_error("groups: rows drawn by weights have no groups");
    const std::uint64_t last = *std::max_element(sampler.group, sampler.group + sampler.n);
    sampler.n_groups = static_cast<std::uint32_t>(within<std::uint64_t>(last + 1, "the number of groups", 1, sampler.n));
  }
}

namespace {

auto counts(const RowSamplerArgument& sampler, std::uint64_t tree) {
  return to_numpy(in_bag_counts(sampler.sampler, tree_key(sampler.seed, tree)));
}

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

auto grow(const TrainingBinsArgument& bins, const Array<std::uint16_t>& labels, std::uint32_t n_classes,
          const Array<std::uint32_t>& rows, const std::optional<Array<std::uint32_t>>& weights,
          const RowSamplerArgument& sampler, const GrowOptionsArgument& grow_options, std::uint64_t first_tree,
          std::uint32_t n_trees) {
  TrainingSet training;
  training.bins = &bins.bins;
  training.label = require(labels, "labels", {static_cast<std::int64_t>(bins.bins.n_rows)});
  training.n_classes = within<std::uint32_t>(n_classes, "n_classes", 1, 65535);
  training.rows = checked_rows(rows, bins.bins.n_rows);
  training.n = static_cast<std::uint32_t>(rows.shape(0));
  training.weight = require(weights, "weights", {static_cast<std::int64_t>(rows.shape(0))});
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (training.label[training.rows[i]] >= n_classes) throw nb::value_error("labels: a label is not below n_classes");
    if (training.weight && training.weight[i] == 0) throw nb::value_error("weights: must be positive");
  }
  GrowOptions options = grow_options;
  options.sampler = sampler.sampler;
  if (options.sampler.n != training.n) throw nb::value_error("sampler: not for this number of rows");
  TreeArrays out;
  std::vector<double> importance(bins.bins.n_columns(), 0.0);
  const auto interrupted = [] {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
  };
  bool done;
  {
    nb::gil_scoped_release release;
    done = grow_trees(training, options, sampler.seed, first_tree, n_trees, interrupted, out, importance.data());
  }
  if (!done) throw nb::python_error();
  return std::make_tuple(to_numpy_rows<std::uint32_t, 2>(std::move(out.nodes)), to_numpy(std::move(out.leaf_class)),
                        to_numpy(std::move(out.leaf_weight)), to_numpy(std::move(out.category_left)),
                        to_numpy_rows<std::uint64_t, 4>(std::move(out.category_set)),
                        to_numpy(std::move(out.node_start)), to_numpy(std::move(out.leaf_start)),
                        to_numpy(std::move(out.category_start)), to_numpy(std::move(importance)));
}

}  // namespace

void register_growing(nb::module_& module) {
  nb::class_<RowSamplerArgument>(module, "RowSampler", "How the trees of a forest draw their rows.")
      .def(nb::init<const std::string&, std::uint64_t, std::optional<Array<std::uint32_t>>, std::uint64_t,
                    std::optional<Array<std::uint32_t>>, std::uint64_t, std::optional<Array<std::uint32_t>>>(),
           nb::kw_only(), "sampling"_a, "n_rows"_a, "units"_a.none(), "n_draws"_a, "weights"_a.none(), "seed"_a,
           "groups"_a.none() = nb::none());
  module.def("in_bag_counts", &counts, "sampler"_a, "tree"_a, "How often each training row is in the bag of a tree.");
  nb::class_<GrowOptionsArgument>(module, "GrowOptions", "How trees are grown; the names of scikit-learn's forests.")
      .def(nb::init<const std::string&, const std::string&, std::optional<std::int64_t>, std::int64_t, std::int64_t,
                    std::int64_t, std::int64_t, double, double, std::int64_t, double, bool>(),
           nb::kw_only(), "splitter"_a, "criterion"_a, "max_depth"_a.none(), "stop_depth"_a, "stop_rows"_a,
           "min_samples_split"_a, "min_samples_leaf"_a, "min_weight_fraction_leaf"_a, "min_impurity_decrease"_a,
           "max_features"_a, "row_weight"_a, "fast_kernels"_a);
  module.def("grow_trees", &grow, "bins"_a, "labels"_a, "n_classes"_a, "rows"_a,
             "weights"_a.none(), "sampler"_a, "options"_a, "first_tree"_a, "n_trees"_a,
             "Grow a batch of trees; the eight arrays of a forest and the summed importances.");
}

}  // namespace surewood::binding
