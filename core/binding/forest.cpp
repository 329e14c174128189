// The forest engine's part of binding/module.cpp: views of Python arrays, one call into the core, arrays back.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "common/cpu.hpp"
#include "forest/bin_column.hpp"
#include "forest/distinct.hpp"
#include "forest/forest_predict.hpp"
#include "forest/short_nodes.hpp"
#include "forest/tree_builder.hpp"

namespace surewood::binding {

using namespace nb::literals;

// Column blocks (n_columns, n_rows) of codes one below the other; `row_blocks` are their (n_rows, n_columns)
// copies, or empty.
Bins bins_view(const std::vector<AnyArray>& blocks, const std::vector<AnyArray>& row_blocks = {}) {
  Bins bins;
  if (blocks.empty()) throw nb::type_error("blocks: at least one column block is needed");
  auto n_rows = static_cast<std::int64_t>(blocks[0].ndim() == 2 ? blocks[0].shape(1) : 0);
  if (!row_blocks.empty() && row_blocks.size() != blocks.size())
    throw nb::type_error("row_blocks: one for each block, or none");
  bins.n_rows = static_cast<std::uint32_t>(n_rows);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto* codes = require<std::uint8_t>(blocks[k], "blocks", {-1, n_rows});
    const std::size_t width = blocks[k].shape(0);
    for (std::size_t j = 0; j < width; ++j) bins.by_column.push_back({codes + j * n_rows, 1});
    if (row_blocks.empty()) continue;
    const auto* rows = require<std::uint8_t>(row_blocks[k], "row_blocks", {n_rows, static_cast<std::int64_t>(width)});
    for (std::size_t j = 0; j < width; ++j) bins.by_row.push_back({rows + j, width});
  }
  return bins;
}

void add_column_info(Bins& bins, const AnyArray& values, const AnyArray& offset, const AnyArray& is_category,
                     const AnyArray& has_missing) {
  std::int64_t n = bins.n_columns();
  const auto* value = require<double>(values, "values", {-1});
  const auto* start = require<std::int64_t>(offset, "value_offset", {n + 1});
  const auto* category = require<std::uint8_t>(is_category, "is_category", {n});
  const auto* missing = require<std::uint8_t>(has_missing, "has_missing", {n});
  if (start[n] > static_cast<std::int64_t>(values.shape(0))) throw nb::value_error("value_offset: runs past values");
  for (std::int64_t j = 0; j < n; ++j) {
    bool few = start[j + 1] - start[j] <= 64 && !missing[j];
    bins.info.push_back({value + start[j], category[j] != 0, missing[j] != 0, few});
  }
}

const std::uint32_t* checked_rows(const AnyArray& rows, std::uint32_t n_rows) {
  const auto* row = require<std::uint32_t>(rows, "rows", {-1});
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    if (row[i] >= n_rows) throw nb::value_error("rows: an index is past the last row of the matrix");
  return row;
}

const std::uint32_t* optional_weights(const std::optional<AnyArray>& weights, std::size_t n) {
  if (!weights) return nullptr;
  return require<std::uint32_t>(*weights, "weights", {static_cast<std::int64_t>(n)});
}

// (sampling, number of rows, units or None, n_draws, weights or None)
Lottery lottery_view(const nb::tuple& parts) {
  if (parts.size() != 5) throw nb::type_error("lottery: expected 5 parts");
  Lottery lottery;
  lottery.sampling = static_cast<Sampling>(nb::cast<int>(parts[0]));
  lottery.n = nb::cast<std::uint32_t>(parts[1]);
  lottery.n_draws = nb::cast<std::uint32_t>(parts[3]);
  if (!parts[2].is_none()) {
    auto units = nb::cast<AnyArray>(parts[2]);
    lottery.units = require<std::uint32_t>(units, "units", {-1});
    lottery.n_units = static_cast<std::uint32_t>(units.shape(0));
    for (std::uint32_t i = 0; i < lottery.n_units; ++i)
      if (lottery.units[i] >= lottery.n) throw nb::value_error("units: a unit belongs to no row");
  }
  if (!parts[4].is_none())
    lottery.weight = require<std::uint32_t>(nb::cast<AnyArray>(parts[4]), "lottery weights", {lottery.n});
  return lottery;
}

nb::tuple grow(const std::vector<AnyArray>& blocks, const std::vector<AnyArray>& row_blocks, const AnyArray& values,
               const AnyArray& value_offset, const AnyArray& is_category, const AnyArray& has_missing,
               const AnyArray& labels, std::uint32_t n_classes, const AnyArray& rows,
               const std::optional<AnyArray>& weights, int splitter, int criterion, std::uint32_t max_depth,
               std::uint32_t min_samples_split, std::uint32_t min_samples_leaf, double min_weight_fraction_leaf,
               double min_impurity_decrease, std::uint32_t max_features, const nb::tuple& lottery, bool fast_kernels,
               std::uint64_t seed, std::uint64_t first_tree, std::uint32_t n_trees) {
  Bins bins = bins_view(blocks, row_blocks);
  add_column_info(bins, values, value_offset, is_category, has_missing);
  if (bins.n_columns() >= kMaxFeatures) throw nb::value_error("blocks: more columns than a node can name");
  TrainingSet training;
  training.bins = &bins;
  training.label = require<std::uint16_t>(labels, "labels", {static_cast<std::int64_t>(bins.n_rows)});
  training.n_classes = n_classes;
  training.rows = checked_rows(rows, bins.n_rows);
  training.n = static_cast<std::uint32_t>(rows.shape(0));
  training.weight = optional_weights(weights, rows.shape(0));
  if (training.n == 0) throw nb::value_error("rows: a tree needs at least one row");
  for (std::uint32_t i = 0; i < training.n; ++i)
    if (training.label[training.rows[i]] >= n_classes) throw nb::value_error("labels: a label is not below n_classes");
  GrowOptions options{static_cast<Splitter>(splitter),
                      static_cast<CriterionKind>(criterion),
                      max_depth,
                      min_samples_split,
                      min_samples_leaf,
                      min_weight_fraction_leaf,
                      min_impurity_decrease,
                      max_features,
                      lottery_view(lottery),
                      fast_kernels};
  if (options.lottery.n != training.n) throw nb::value_error("lottery: not for this number of rows");
  TreeArrays out;
  std::vector<double> importance(bins.n_columns(), 0.0);
  bool done;
  {
    nb::gil_scoped_release release;
    done = grow_trees(
        training, options, seed, first_tree, n_trees,
        [] {
          nb::gil_scoped_acquire acquire;
          return PyErr_CheckSignals() != 0;
        },
        out, importance.data());
  }
  if (!done) throw nb::python_error();
  return nb::make_tuple(to_numpy_rows<std::uint32_t, 2>(std::move(out.nodes)), to_numpy(std::move(out.leaf_class)),
                        to_numpy(std::move(out.leaf_weight)), to_numpy(std::move(out.category_left)),
                        to_numpy_rows<std::uint64_t, 4>(std::move(out.category_set)),
                        to_numpy(std::move(out.node_start)), to_numpy(std::move(out.leaf_start)),
                        to_numpy(std::move(out.category_start)), to_numpy(std::move(importance)));
}

// (nodes, leaf_class, leaf_weight, category_left, category_set, node_start, leaf_start, category_start, word_bits):
// whole nodes where word_bits is 0, else short ones
ForestView forest_view(const nb::tuple& arrays, std::uint32_t n_classes, std::uint32_t n_features) {
  if (arrays.size() != 9) throw nb::type_error("forest: expected 8 arrays and the bits of a word");
  AnyArray part[8];
  for (std::size_t k = 0; k < 8; ++k) part[k] = nb::cast<AnyArray>(arrays[k]);
  ForestView view;
  view.word_bits = nb::cast<int>(arrays[8]);
  if (view.word_bits && (view.word_bits <= kTestBits || view.word_bits >= 32))
    throw nb::value_error("word_bits: not the length of a word");
  if (view.word_bits)
    view.short_nodes = require<std::uint32_t>(part[0], "nodes", {-1});
  else
    view.nodes = reinterpret_cast<const Node*>(require<std::uint32_t>(part[0], "nodes", {-1, 2}));
  view.leaf_class = require<std::uint16_t>(part[1], "leaf_class", {-1});
  view.leaf_weight = require<std::uint32_t>(part[2], "leaf_weight", {-1});
  view.category_left = require<std::uint32_t>(part[3], "category_left", {-1});
  view.category_set = reinterpret_cast<const CategorySet*>(require<std::uint64_t>(part[4], "category_set", {-1, 4}));
  view.node_start = require<std::int64_t>(part[5], "node_start", {-1});
  auto n = static_cast<std::int64_t>(part[5].shape(0));
  view.leaf_start = require<std::int64_t>(part[6], "leaf_start", {n});
  view.category_start = require<std::int64_t>(part[7], "category_start", {n});
  view.n_trees = static_cast<std::uint32_t>(n - 1);
  view.n_classes = n_classes;
  view.n_features = n_features;
  return view;
}

// Whole trees made short: (nodes, leaf_class, leaf_weight, leaf_start, word_bits), or None where they are too large.
nb::object forest_shorten(const nb::tuple& forest, std::uint32_t n_classes, std::uint32_t n_features) {
  const ForestView view = forest_view(forest, n_classes, n_features);
  if (view.word_bits) throw nb::value_error("forest: its nodes are short already");
  const int word_bits = short_word_bits(n_features);
  std::optional<ShortTrees> out;
  if (word_bits < 32 && !(n_classes == 2 && view.leaf_start[view.n_trees])) {  // two classes have shares, no vectors
    nb::gil_scoped_release release;
    out = shorten(view, word_bits);
  }
  if (!out) return nb::none();
  return nb::make_tuple(to_numpy(std::move(out->nodes)), to_numpy(std::move(out->leaf_class)),
                        to_numpy(std::move(out->leaf_weight)), to_numpy(std::move(out->leaf_start)), word_bits);
}

void check_span(std::uint32_t begin, std::uint32_t end, std::size_t n) {
  if (begin > end || end > n) throw nb::value_error("begin, end: not a range of rows");
}

void forest_codes(const nb::tuple& forest, std::uint32_t n_classes, const std::vector<AnyArray>& blocks,
                  std::uint32_t begin, std::uint32_t end, const WritableArray& out) {
  Bins bins = bins_view(blocks);
  ForestView view = forest_view(forest, n_classes, bins.n_columns());
  check_span(begin, end, bins.n_rows);
  double* sums = require_out<double>(out, "out", {end - begin, n_classes});
  nb::gil_scoped_release release;
  predict_codes(view, bins, begin, end, sums);
}

template <typename Value>
void forest_values(const nb::tuple& forest, std::uint32_t n_classes, const AnyArray& X, const AnyArray& edges,
                   const AnyArray& offset, const WritableArray& out) {
  const auto* values = require<Value>(X, "X", {-1, -1});
  auto n = static_cast<std::int64_t>(X.shape(0)), width = static_cast<std::int64_t>(X.shape(1));
  Thresholds thresholds{require<double>(edges, "edges", {-1}), require<std::int64_t>(offset, "offset", {width + 1})};
  ForestView view = forest_view(forest, n_classes, static_cast<std::uint32_t>(width));
  double* sums = require_out<double>(out, "out", {n, n_classes});
  nb::gil_scoped_release release;
  predict_values(view, values, n, width, thresholds, sums);
}

void forest_any_values(const nb::tuple& forest, std::uint32_t n_classes, const AnyArray& X, const AnyArray& edges,
                       const AnyArray& offset, const WritableArray& out) {
  if (X.dtype() == nb::dtype<float>()) return forest_values<float>(forest, n_classes, X, edges, offset, out);
  forest_values<double>(forest, n_classes, X, edges, offset, out);
}

void forest_apply(const nb::tuple& forest, const std::vector<AnyArray>& blocks, std::uint32_t begin, std::uint32_t end,
                  std::uint32_t max_depth, const std::optional<AnyArray>& node_value, const WritableArray& out) {
  Bins bins = bins_view(blocks);
  ForestView view = forest_view(forest, 1, bins.n_columns());
  check_span(begin, end, bins.n_rows);
  const std::uint32_t* value =
      node_value ? require<std::uint32_t>(*node_value, "node_value", {view.node_start[view.n_trees]}) : nullptr;
  auto* nodes = require_out<std::uint32_t>(out, "out", {end - begin, view.n_trees});
  nb::gil_scoped_release release;
  apply_codes(view, bins, begin, end, max_depth, value, nodes);
}

void forest_out_of_bag(const nb::tuple& forest, std::uint32_t n_classes, const std::vector<AnyArray>& blocks,
                       const AnyArray& rows, const nb::tuple& lottery, std::uint64_t seed, std::uint64_t first_tree,
                       std::uint32_t begin, std::uint32_t end, const WritableArray& out, const WritableArray& votes) {
  Bins bins = bins_view(blocks);
  ForestView view = forest_view(forest, n_classes, bins.n_columns());
  BagRecipe recipe{lottery_view(lottery), seed, first_tree, checked_rows(rows, bins.n_rows)};
  if (recipe.lottery.n != rows.shape(0)) throw nb::value_error("lottery: not for this number of rows");
  check_span(begin, end, rows.shape(0));
  double* sums = require_out<double>(out, "out", {end - begin, n_classes});
  auto* count = require_out<std::uint32_t>(votes, "votes", {end - begin});
  nb::gil_scoped_release release;
  predict_out_of_bag(view, bins, recipe, begin, end, sums, count);
}

void codes_of_column(const AnyArray& values, const AnyArray& edges, const WritableArray& out) {
  const auto* value = require<double>(values, "values", {-1});
  const auto* edge = require<double>(edges, "edges", {-1});
  if (edges.shape(0) > 254) throw nb::value_error("edges: at most 254");
  auto* codes = require_out<std::uint8_t>(out, "out", {static_cast<std::int64_t>(values.shape(0))});
  nb::gil_scoped_release release;
  bin_column(value, values.shape(0), edge, edges.shape(0), codes);
}

nb::tuple distinct_of_column(const AnyArray& values) {
  const auto* value = require<double>(values, "values", {-1});
  Distinct found;
  {
    nb::gil_scoped_release release;
    found = distinct_values(value, values.shape(0));
  }
  return nb::make_tuple(to_numpy(std::move(found.values)), to_numpy(std::move(found.cumulative)));
}

auto bag_counts(const nb::tuple& lottery, std::uint64_t seed, std::uint64_t tree) {
  return to_numpy(in_bag_counts(lottery_view(lottery), tree_key(seed, tree)));
}

auto content_keys(const std::vector<AnyArray>& blocks) { return to_numpy(row_keys(bins_view(blocks))); }

void register_forest(nb::module_& module) {
  module.def("grow_trees", &grow, "blocks"_a, "row_blocks"_a, "values"_a.noconvert(), "value_offset"_a.noconvert(),
             "is_category"_a.noconvert(), "has_missing"_a.noconvert(), "labels"_a.noconvert(), "n_classes"_a,
             "rows"_a.noconvert(), "weights"_a.none(), "splitter"_a, "criterion"_a, "max_depth"_a,
             "min_samples_split"_a, "min_samples_leaf"_a, "min_weight_fraction_leaf"_a, "min_impurity_decrease"_a,
             "max_features"_a, "lottery"_a, "fast_kernels"_a, "seed"_a, "first_tree"_a, "n_trees"_a,
             "Grow a batch of trees; the eight arrays of a forest and the summed importances.");
  module.def("shorten", &forest_shorten, "forest"_a, "n_classes"_a, "n_features"_a,
             "Short nodes, leaf pools and their starts, bits of a word; None where the trees are too large.");
  module.def("predict_codes", &forest_codes, "forest"_a, "n_classes"_a, "blocks"_a, "begin"_a, "end"_a, "out"_a,
             "Add every tree's class vector for rows begin..end of a binned matrix to `out`.");
  module.def("predict_values", &forest_any_values, "forest"_a, "n_classes"_a, "X"_a.noconvert(), "edges"_a.noconvert(),
             "offset"_a.noconvert(), "out"_a, "The same for raw numbers (float32 or float64).");
  module.def("apply_codes", &forest_apply, "forest"_a, "blocks"_a, "begin"_a, "end"_a, "max_depth"_a,
             "node_value"_a.none(), "out"_a,
             "Node (or its value) of every tree at which each row ends after at most max_depth questions.");
  module.def("predict_out_of_bag", &forest_out_of_bag, "forest"_a, "n_classes"_a, "blocks"_a, "rows"_a.noconvert(),
             "lottery"_a, "seed"_a, "first_tree"_a, "begin"_a, "end"_a, "out"_a, "votes"_a,
             "Sums and numbers of the trees that did not see each training row.");
  module.def("bin_column", &codes_of_column, "values"_a.noconvert(), "edges"_a.noconvert(), "out"_a,
             "Bin codes of a column: the first bin whose edge is not below the value; NaN is 255.");
  module.def("distinct_values", &distinct_of_column, "values"_a.noconvert(),
             "Distinct known values of a column, ascending, and the number of entries up to each.");
  module.def("in_bag_counts", &bag_counts, "lottery"_a, "seed"_a, "tree"_a,
             "How often each training row is in the bag of a tree.");
  module.def("row_keys", &content_keys, "blocks"_a, "A number for the codes of each row.");
}

}  // namespace surewood::binding
