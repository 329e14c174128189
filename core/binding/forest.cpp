// Registers what is done with grown forests: checks, short nodes, predictions, leaves, out-of-bag sums, contributions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "binding/choices.hpp"
#include "binding/forest_arguments.hpp"
#include "binding/registers.hpp"
#include "forest/forest_check.hpp"
#include "forest/forest_predict.hpp"
#include "forest/forest_shapley.hpp"
#include "forest/short_nodes.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

// (nodes, leaf_class, leaf_weight, category_left, category_set, node_start, leaf_start, category_start, word_bits,
// n_classes, n_features): whole nodes where word_bits is 0, else short ones. Lengths and starts are checked here, at
// every call; what the nodes say is checked once, when a FlatForest is made (`check_forest`).
ForestView forest_view(const nb::tuple& parts) {
  if (parts.size() != 11) throw nb::type_error("forest: expected 8 arrays, word_bits, n_classes and n_features");
  AnyArray part[8];
  for (std::size_t k = 0; k < 8; ++k) part[k] = nb::cast<AnyArray>(parts[k]);
  ForestView view;
  view.word_bits = nb::cast<int>(parts[8]);
  view.n_classes = nb::cast<std::uint32_t>(parts[9]);
  view.n_features = nb::cast<std::uint32_t>(parts[10]);
  if (view.word_bits)
    view.short_nodes = require<std::uint32_t>(part[0], "nodes", {-1});
  else
    view.nodes = reinterpret_cast<const Node*>(require<std::uint32_t>(part[0], "nodes", {-1, 2}));
  ForestSizes sizes;
  sizes.nodes = static_cast<std::int64_t>(part[0].shape(0));
  view.leaf_class = require<std::uint16_t>(part[1], "leaf_class", {-1});
  sizes.leaves = static_cast<std::int64_t>(part[1].shape(0));
  view.leaf_weight = require<std::uint32_t>(part[2], "leaf_weight", {sizes.leaves});
  view.category_left = require<std::uint32_t>(part[3], "category_left", {-1});
  sizes.categories = static_cast<std::int64_t>(part[3].shape(0));
  view.category_set =
      reinterpret_cast<const CategorySet*>(require<std::uint64_t>(part[4], "category_set", {sizes.categories, 4}));
  view.node_start = require<std::int64_t>(part[5], "node_start", {-1});
  const auto n = static_cast<std::int64_t>(part[5].shape(0));
  if (n < 1 || n > 0xFFFFFFFF) throw nb::value_error("node_start: one entry per tree and the end are needed");
  view.leaf_start = require<std::int64_t>(part[6], "leaf_start", {n});
  view.category_start = require<std::int64_t>(part[7], "category_start", {n});
  view.n_trees = static_cast<std::uint32_t>(n - 1);
  refuse("forest", flaw_of_starts(view, sizes));
  return view;
}

}  // namespace

ForestView forest_for(const nb::tuple& parts, std::size_t n_columns) {
  const ForestView view = forest_view(parts);
  if (view.n_features != n_columns)
    throw nb::value_error(
        ("forest: grown on " + std::to_string(view.n_features) + " columns, got " + std::to_string(n_columns) + ".")
            .c_str());
  return view;
}

namespace {

// A ValueError for arrays that cannot be read safely.
void check(const nb::tuple& forest) {
  const ForestView view = forest_view(forest);
  std::string flaw;
  {
    nb::gil_scoped_release release;
    flaw = flaw_of_nodes(view);
  }
  refuse("forest", flaw);
}

auto bins_compared(const nb::tuple& forest) {
  const ForestView view = forest_view(forest);
  std::vector<std::int32_t> last_bin(view.n_features);
  last_bins(view, last_bin.data());
  return to_numpy(std::move(last_bin));
}

// Whole trees made short: (nodes, leaf_class, leaf_weight, leaf_start, word_bits), or None where they are too large.
nb::object shortened(const nb::tuple& forest) {
  const ForestView view = forest_view(forest);
  if (view.word_bits) throw nb::value_error("forest: its nodes are short already");
  const int word_bits = ShortCodec::word_bits_for(view.n_features);
  std::optional<ShortTrees> out;
  // Two classes have probabilities in the pool, no vectors.
  if (word_bits < 32 && !(view.n_classes == 2 && view.leaf_start[view.n_trees])) {
    nb::gil_scoped_release release;
    out = shorten(view, word_bits);
  }
  if (!out) return nb::none();
  return nb::make_tuple(to_numpy(std::move(out->nodes)), to_numpy(std::move(out->leaf_class)),
                        to_numpy(std::move(out->leaf_weight)), to_numpy(std::move(out->leaf_start)), word_bits);
}

void from_codes(const nb::tuple& forest, const BinsArgument& bins, std::uint32_t begin, std::uint32_t end,
                const WritableArray& out) {
  const ForestView view = forest_for(forest, bins.bins.n_columns());
  bins.check_rows(begin, end);
  double* sums = require_out<double>(out, "out", {end - begin, view.n_classes});
  nb::gil_scoped_release release;
  predict_codes(view, bins.bins, begin, end, sums);
}

template <class Value>
void from_values(const ForestView& view, const AnyArray& X, const Thresholds& thresholds, const WritableArray& out) {
  const auto* values = require<Value>(X, "X", {-1, static_cast<std::int64_t>(view.n_features)});
  double* sums = require_out<double>(out, "out", {static_cast<std::int64_t>(X.shape(0)), view.n_classes});
  nb::gil_scoped_release release;
  predict_values(view, values, X.shape(0), view.n_features, thresholds, sums);
}

void from_numbers(const nb::tuple& forest, const AnyArray& X, const AnyArray& edges, const AnyArray& offset,
                  const WritableArray& out) {
  const ForestView view = forest_view(forest);
  if (view.n_features == 0) throw nb::value_error("forest: there is no column to read");
  if (view.category_start[view.n_trees]) throw nb::value_error("forest: category splits need codes, not numbers");
  const auto* edge = require<double>(edges, "edges", {-1});
  const auto* start = require<std::int64_t>(offset, "offset", {static_cast<std::int64_t>(view.n_features) + 1});
  if (start[0] != 0 || start[view.n_features] != static_cast<std::int64_t>(edges.shape(0)))
    throw nb::value_error("offset: must begin with 0 and end at the length of edges");
  for (std::uint32_t j = 0; j < view.n_features; ++j)
    if (start[j + 1] <= start[j] || start[j + 1] - start[j] > kMissingCode)
      throw nb::value_error("offset: a column must have 1 to 255 bins");
  if (X.dtype() == nb::dtype<float>()) return from_values<float>(view, X, {edge, start}, out);
  from_values<double>(view, X, {edge, start}, out);
}

void leaves(const nb::tuple& forest, const BinsArgument& bins, std::uint32_t begin, std::uint32_t end,
            std::optional<std::uint32_t> max_depth, const std::optional<AnyArray>& node_value,
            const WritableArray& out) {
  const ForestView view = forest_for(forest, bins.bins.n_columns());
  bins.check_rows(begin, end);
  const std::uint32_t* value =
      node_value ? require<std::uint32_t>(*node_value, "node_value", {view.node_start[view.n_trees]}) : nullptr;
  auto* nodes = require_out<std::uint32_t>(out, "out", {end - begin, view.n_trees});
  nb::gil_scoped_release release;
  apply_codes(view, bins.bins, begin, end, max_depth.value_or(kNoDepthLimit), value, nodes);
}

void out_of_bag(const nb::tuple& forest, const BinsArgument& bins, const AnyArray& rows, const DrawArgument& draw,
                std::uint64_t first_tree, std::uint32_t begin, std::uint32_t end, const WritableArray& out,
                const WritableArray& votes) {
  const ForestView view = forest_for(forest, bins.bins.n_columns());
  const BagRecipe recipe{draw.lottery, draw.seed, first_tree, checked_rows(rows, bins.bins.n_rows)};
  if (recipe.lottery.n != rows.shape(0)) throw nb::value_error("draw: not for this number of rows");
  if (begin > end || end > rows.shape(0)) throw nb::value_error("begin, end: not a range of rows");
  double* sums = require_out<double>(out, "out", {end - begin, view.n_classes});
  auto* count = require_out<std::uint32_t>(votes, "votes", {end - begin});
  nb::gil_scoped_release release;
  predict_out_of_bag(view, bins.bins, recipe, begin, end, sums, count);
}

void shapley(const nb::tuple& forest, const BinsArgument& rows, std::uint32_t begin, std::uint32_t end,
             const BinsArgument& background, const AnyArray& group_of, std::uint32_t n_groups,
             const WritableArray& out) {
  const ForestView view = forest_for(forest, rows.bins.n_columns());
  if (background.bins.n_columns() != view.n_features) throw nb::value_error("background: other columns than the rows");
  rows.check_rows(begin, end);
  const auto* group = require<std::uint32_t>(group_of, "group_of", {view.n_features});
  for (std::uint32_t j = 0; j < view.n_features; ++j)
    if (group[j] >= n_groups) throw nb::value_error("group_of: a number that is no group");
  double* sums = require_out<double>(out, "out", {end - begin, n_groups, view.n_classes});
  nb::gil_scoped_release release;
  shapley_codes(view, rows.bins, begin, end, background.bins, group, n_groups, sums);
}

}  // namespace

void register_forest(nb::module_& module) {
  module.def("check_forest", &check, "forest"_a, "ValueError for arrays that cannot be read safely.");
  module.def("last_bins", &bins_compared, "forest"_a,
             "The largest bin that each feature's splits compare with (-1: none).");
  module.def("shorten", &shortened, "forest"_a,
             "Short nodes, leaf pools and their starts, bits of a word; None where the trees are too large.");
  module.def("predict_codes", &from_codes, "forest"_a, "bins"_a, "begin"_a, "end"_a, "out"_a,
             "Add every tree's class vector for rows begin..end of a binned matrix to `out`.");
  module.def("predict_values", &from_numbers, "forest"_a, "X"_a.noconvert(), "edges"_a.noconvert(),
             "offset"_a.noconvert(), "out"_a, "The same for raw numbers (float32 or float64).");
  module.def("apply_codes", &leaves, "forest"_a, "bins"_a, "begin"_a, "end"_a, "max_depth"_a.none(),
             "node_value"_a.noconvert().none(), "out"_a,
             "Node (or its value) of every tree at which each row ends after at most max_depth splits.");
  module.def("predict_out_of_bag", &out_of_bag, "forest"_a, "bins"_a, "rows"_a.noconvert(), "draw"_a, "first_tree"_a,
             "begin"_a, "end"_a, "out"_a, "votes"_a,
             "Sums and numbers of the trees that did not see each training row.");
  module.def("shapley_codes", &shapley, "forest"_a, "rows"_a, "begin"_a, "end"_a, "background"_a,
             "group_of"_a.noconvert(), "n_groups"_a, "out"_a,
             "Add the Shapley values of all trees for pairs of rows begin..end and background rows to `out`.");
}

}  // namespace surewood::binding
