// Registers grown forests and what is done with them: short nodes, predictions, leaves, out-of-bag sums, contributions.
#include "binding/forest_arguments.hpp"
#include "forest/forest_check.hpp"
#include "forest/forest_predict.hpp"
#include "forest/forest_shapley.hpp"
#include "forest/short_nodes.hpp"

namespace surewood::binding {

ForestArgument::ForestArgument(Array<std::uint32_t> nodes, Array<std::uint16_t> leaf_class,
                               Array<std::uint32_t> leaf_weight, Array<std::uint32_t> category_left,
                               Array<std::uint64_t> category_set, Array<std::int64_t> node_start,
                               Array<std::int64_t> leaf_start, Array<std::int64_t> category_start,
                               std::uint32_t n_classes, std::uint32_t n_features, int word_bits)
    : arrays{nodes, leaf_class, leaf_weight, category_left, category_set, node_start, leaf_start, category_start} {
  view.n_classes = n_classes;
  view.n_features = n_features;
  view.word_bits = word_bits;
  if (word_bits)
    view.short_nodes = require(nodes, "nodes", {-1});
  else
    view.nodes = reinterpret_cast<const Node*>(require(nodes, "nodes", {-1, 2}));
  view.leaf_class = require(leaf_class, "leaf_class", {-1});
  view.category_left = require(category_left, "category_left", {-1});
  view.node_start = require(node_start, "node_start", {-1});
  const auto length = [](const AnyArray& array) { return static_cast<std::int64_t>(array.shape(0)); };
  const std::int64_t n_categories = length(category_left), n_starts = length(node_start);
  view.leaf_weight = require(leaf_weight, "leaf_weight", {length(leaf_class)});
  view.category_set =
      reinterpret_cast<const CategorySet*>(require(category_set, "category_set", {n_categories, 4}));
  if (n_starts < 1 || n_starts > 0xFFFFFFFF)
    throw nb::value_error("node_start: one entry per tree and the end are needed");
  view.leaf_start = require(leaf_start, "leaf_start", {n_starts});
  view.category_start = require(category_start, "category_start", {n_starts});
  view.n_trees = static_cast<std::uint32_t>(n_starts - 1);
  std::string flaw;
  {
    nb::gil_scoped_release release;
    flaw = flaw_of_forest(view, {length(nodes), length(leaf_class), n_categories});
  }
  refuse("forest", flaw);
}

const ForestView& ForestArgument::for_columns(std::size_t n_columns) const {
  if (view.n_features == n_columns) return view;
  throw nb::value_error(
      ("forest: grown on " + std::to_string(view.n_features) + " columns, got " + std::to_string(n_columns) + ".")
          .c_str());
}

namespace {

bool bins_suffice(const ForestArgument& forest, const Array<std::int64_t>& offset) {
  return splits_fit(forest.view, require(offset, "offset", {std::int64_t{forest.view.n_features} + 1}));
}

using ShortForest = std::tuple<OwnedArray<std::uint32_t>, OwnedArray<std::uint16_t>, OwnedArray<std::uint32_t>,
                               OwnedArray<std::int64_t>, int>;

std::optional<ShortForest> shortened(const ForestArgument& forest) {
  const ForestView& view = forest.view;
  if (view.word_bits) throw nb::value_error("forest: its nodes are short already");
  const int word_bits = ShortCodec::word_bits_for(view.n_features);
  std::optional<ShortTrees> out;
  // Two classes have probabilities in the pool, no vectors.
  if (word_bits < 32 && !(view.n_classes == 2 && view.leaf_start[view.n_trees])) {
    nb::gil_scoped_release release;
    out = shorten(view, word_bits);
  }
  if (!out) return std::nullopt;
  return ShortForest(to_numpy(std::move(out->nodes)), to_numpy(std::move(out->leaf_class)),
                     to_numpy(std::move(out->leaf_weight)), to_numpy(std::move(out->leaf_start)), word_bits);
}

void from_codes(const ForestArgument& forest, const BinsArgument& bins, std::uint32_t begin, std::uint32_t end,
                const Output<double>& out) {
  const ForestView& view = forest.for_columns(bins.bins.n_columns());
  bins.check_rows(begin, end);
  double* sums = require(out, "out", {end - begin, view.n_classes});
  nb::gil_scoped_release release;
  predict_codes(view, bins.bins, begin, end, sums);
}

template <class Value>
void from_values(const ForestView& view, const AnyArray& X, const Thresholds& thresholds, const Output<double>& out) {
  const auto* values = require<Value>(X, "X", {-1, static_cast<std::int64_t>(view.n_features)});
  double* sums = require(out, "out", {static_cast<std::int64_t>(X.shape(0)), view.n_classes});
  nb::gil_scoped_release release;
  predict_values(view, values, X.shape(0), view.n_features, thresholds, sums);
}

void from_numbers(const ForestArgument& forest, const Array<void>& X, const Array<double>& edges,
                  const Array<std::int64_t>& offset, const Output<double>& out) {
  const ForestView& view = forest.view;
  if (view.n_features == 0) throw nb::value_error("forest: there is no column to read");
  if (view.category_start[view.n_trees]) throw nb::value_error("forest: category splits need codes, not numbers");
  const auto* edge = require(edges, "edges", {-1});
  const auto* start = require(offset, "offset", {static_cast<std::int64_t>(view.n_features) + 1});
  if (start[0] != 0 || start[view.n_features] != static_cast<std::int64_t>(edges.shape(0)))
    throw nb::value_error("offset: must begin with 0 and end at the length of edges");
  for (std::uint32_t j = 0; j < view.n_features; ++j)
    if (start[j + 1] <= start[j] || start[j + 1] - start[j] > kMissingCode)
      throw nb::value_error("offset: a column must have 1 to 255 bins");
  if (X.dtype() == nb::dtype<float>()) return from_values<float>(view, X, {edge, start}, out);
  from_values<double>(view, X, {edge, start}, out);
}

void leaves(const ForestArgument& forest, const BinsArgument& bins, std::uint32_t begin, std::uint32_t end,
            std::optional<std::uint32_t> max_depth, const std::optional<Array<std::uint32_t>>& node_value,
            const Output<std::uint32_t>& out) {
  const ForestView& view = forest.for_columns(bins.bins.n_columns());
  bins.check_rows(begin, end);
  const std::uint32_t* value = require(node_value, "node_value", {view.node_start[view.n_trees]});
  auto* nodes = require(out, "out", {end - begin, view.n_trees});
  nb::gil_scoped_release release;
  apply_codes(view, bins.bins, begin, end, max_depth.value_or(kNoDepthLimit), value, nodes);
}

void out_of_bag(const ForestArgument& forest, const BinsArgument& bins, const Array<std::uint32_t>& rows,
                const RowSamplerArgument& sampler, std::uint64_t first_tree, std::uint32_t begin, std::uint32_t end,
                const Output<double>& out, const Output<std::uint32_t>& votes) {
  const ForestView& view = forest.for_columns(bins.bins.n_columns());
  const Bagging bagging{sampler.sampler, sampler.seed, first_tree, checked_rows(rows, bins.bins.n_rows)};
  if (bagging.sampler.n != rows.shape(0)) throw nb::value_error("sampler: not for this number of rows");
  if (begin > end || end > rows.shape(0)) throw nb::value_error("begin, end: not a range of rows");
  double* sums = require(out, "out", {end - begin, view.n_classes});
  auto* count = require(votes, "votes", {end - begin});
  nb::gil_scoped_release release;
  predict_out_of_bag(view, bins.bins, bagging, begin, end, sums, count);
}

void shapley(const ForestArgument& forest, const BinsArgument& rows, std::uint32_t begin, std::uint32_t end,
             const BinsArgument& background, const Array<std::uint32_t>& group_of, std::uint32_t n_groups,
             const Output<double>& out) {
  const ForestView& view = forest.for_columns(rows.bins.n_columns());
  if (background.bins.n_columns() != view.n_features) throw nb::value_error("background: other columns than the rows");
  rows.check_rows(begin, end);
  const auto* group = require(group_of, "group_of", {view.n_features});
  for (std::uint32_t j = 0; j < view.n_features; ++j)
    if (group[j] >= n_groups) throw nb::value_error("group_of: a number that is no group");
  double* sums = require(out, "out", {end - begin, n_groups, view.n_classes});
  nb::gil_scoped_release release;
  shapley_codes(view, rows.bins, begin, end, background.bins, group, n_groups, sums);
}

}  // namespace

void register_forest(nb::module_& module) {
  nb::class_<ForestArgument>(module, "Forest", "The arrays of a FlatForest, checked: a ValueError says what is wrong.")
      .def(nb::init<Array<std::uint32_t>, Array<std::uint16_t>, Array<std::uint32_t>, Array<std::uint32_t>,
                    Array<std::uint64_t>, Array<std::int64_t>, Array<std::int64_t>, Array<std::int64_t>, std::uint32_t,
                    std::uint32_t, int>(),
           nb::kw_only(), "nodes"_a, "leaf_class"_a, "leaf_weight"_a, "category_left"_a, "category_set"_a,
           "node_start"_a, "leaf_start"_a, "category_start"_a, "n_classes"_a, "n_features"_a, "word_bits"_a);
  module.def("splits_fit", &bins_suffice, "forest"_a, "offset"_a,
             "Whether splits compare only with bins offset[j] ... offset[j + 1] - 1 of their feature j.");
  module.def("shorten", &shortened, "forest"_a,
             "Short nodes, leaf pools and their starts, bits of a word; None where the trees are too large.");
  module.def("predict_codes", &from_codes, "forest"_a, "bins"_a, "begin"_a, "end"_a, "out"_a,
             "Add every tree's class vector for rows begin..end of a binned matrix to `out`.");
  module.def("predict_values", &from_numbers, "forest"_a, "X"_a, "edges"_a, "offset"_a, "out"_a,
             "The same for raw numbers (float32 or float64).");
  module.def("apply_codes", &leaves, "forest"_a, "bins"_a, "begin"_a, "end"_a, "max_depth"_a.none(),
             "node_value"_a.none(), "out"_a,
             "Node (or its value) of every tree at which each row ends after at most max_depth splits.");
  module.def("predict_out_of_bag", &out_of_bag, "forest"_a, "bins"_a, "rows"_a, "sampler"_a, "first_tree"_a, "begin"_a,
             "end"_a, "out"_a, "votes"_a, "Sums and numbers of the trees that did not see each training row.");
  module.def("shapley_codes", &shapley, "forest"_a, "rows"_a, "begin"_a, "end"_a, "background"_a, "group_of"_a,
             "n_groups"_a, "out"_a,
             "Add the Shapley values of all trees for pairs of rows begin..end and background rows to `out`.");
}

}  // namespace surewood::binding
