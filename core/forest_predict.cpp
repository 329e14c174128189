#include "forest_predict.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bin_column.hpp"
#include "descend.hpp"
#include "prepared_tree.hpp"

namespace surewood {

namespace {

constexpr std::size_t kTileBytes = 192 * 1024;   // rows of a tile; the largest lever of prediction speed
constexpr std::int64_t kGroupNodes = 1 << 18;    // nodes prepared together
constexpr std::uint32_t kRowsWorthPreparing = 128;
constexpr std::size_t kColumnsWorthBinning = 2;  // a tree: with more columns raw thresholds are quicker than bins
constexpr std::uint32_t kNoLimit = 0xFFFFFFFFu;

std::uint32_t tile_rows(std::size_t bytes_a_row) {
  std::size_t rows = kTileBytes / std::max<std::size_t>(bytes_a_row, 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(rows, 16, 8192));
}

// Copies rows begin ... begin + n - 1 of the matrix into row-major order.
void fill_tile(const Bins& bins, const std::uint32_t* rows, std::uint32_t begin, std::uint32_t n,
               std::vector<std::uint8_t>& tile) {
  const std::size_t width = bins.n_columns();
  tile.resize(width * n);
  // Strips of rows: the lines being written stay in cache while all columns pass over them.
  for (std::uint32_t strip = 0; strip < n; strip += 64) {
    const std::uint32_t stop = std::min(strip + 64, n);
    for (std::size_t j = 0; j < width; ++j) {
      const ColumnView column = bins.by_column[j];
      for (std::uint32_t i = strip; i < stop; ++i) tile[i * width + j] = column[rows ? rows[begin + i] : begin + i];
    }
  }
}

void add_mixed_leaf(const ForestView& forest, std::uint32_t tree, Node leaf, double* out) {
  const std::uint16_t* classes = forest.leaf_class + forest.leaf_start[tree] + leaf.left;
  const std::uint32_t* weights = forest.leaf_weight + forest.leaf_start[tree] + leaf.left;
  double scale = 1.0 / static_cast<double>(weights[0]);
  for (std::uint32_t k = 1; k <= classes[0]; ++k) out[classes[k]] += scale * static_cast<double>(weights[k]);
}

inline void add_leaf(const ForestView& forest, std::uint32_t tree, Node leaf, double* out) {
  const std::uint32_t kind = leaf.word & 3u;
  if (kind == kPureLeaf) {
    out[leaf.left] += 1.0;
  } else if (kind == kBinaryLeaf) {
    double share = static_cast<double>(bits_float(leaf.left));
    out[0] += 1.0 - share;
    out[1] += share;
  } else {
    add_mixed_leaf(forest, tree, leaf, out);
  }
}

// Eight rows of one tree at a time; lane r of the last group repeats the last row.
template <class Rows, class Sink>
void rows_through_tree(const ForestView& forest, std::uint32_t tree, const Rows& source, std::uint32_t n,
                       std::uint32_t max_depth, Sink sink) {
  TreeView trees[kLanes];
  std::fill_n(trees, kLanes, tree_view(forest, tree));
  std::size_t rows[kLanes];
  std::uint32_t at[kLanes];
  for (std::uint32_t i = 0; i < n; i += kLanes) {
    for (std::uint32_t k = 0; k < kLanes; ++k) rows[k] = std::min(i + k, n - 1);
    descend(trees, source, rows, max_depth, at);
    for (std::uint32_t k = 0; k < kLanes && i + k < n; ++k) sink(i + k, at[k]);
  }
}

// Eight trees of one row at a time.
template <class Rows, class Sink>
void row_through_trees(const ForestView& forest, std::uint32_t row, const Rows& source, std::uint32_t max_depth,
                       Sink sink) {
  TreeView trees[kLanes];
  std::size_t rows[kLanes];
  std::uint32_t at[kLanes];
  std::fill_n(rows, kLanes, row);
  for (std::uint32_t t = 0; t < forest.n_trees; t += kLanes) {
    for (std::uint32_t k = 0; k < kLanes; ++k) trees[k] = tree_view(forest, std::min(t + k, forest.n_trees - 1));
    descend(trees, source, rows, max_depth, at);
    for (std::uint32_t k = 0; k < kLanes && t + k < forest.n_trees; ++k) sink(t + k, at[k]);
  }
}

template <class Rows>
void add_tile(const ForestView& forest, const Rows& source, std::uint32_t n, double* out) {
  if (n < kLanes) {
    for (std::uint32_t i = 0; i < n; ++i)
      row_through_trees(forest, i, source, kNoLimit, [&](std::uint32_t tree, std::uint32_t node) {
        add_leaf(forest, tree, forest.nodes[forest.node_start[tree] + node], out + i * std::size_t(forest.n_classes));
      });
    return;
  }
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    const Node* nodes = forest.nodes + forest.node_start[tree];
    rows_through_tree(forest, tree, source, n, kNoLimit, [&](std::uint32_t i, std::uint32_t node) {
      add_leaf(forest, tree, nodes[node], out + i * std::size_t(forest.n_classes));
    });
  }
}

// All trees over `n` rows (row i at values + i * stride), in groups of prepared trees and tiles of `tile` rows;
// sink(tree, row, node) gets every row's leaf.
template <class Prepared, class Sink>
void walk_prepared(const ForestView& forest, const typename Prepared::Value* values, std::size_t n, std::size_t stride,
                   const Thresholds& thresholds, std::size_t tile, Sink sink) {
  std::vector<Prepared> prepared;
  for (std::uint32_t first = 0, last; first < forest.n_trees; first = last) {
    last = first + 1;
    while (last < forest.n_trees && forest.node_start[last + 1] - forest.node_start[first] <= kGroupNodes) ++last;
    const std::int64_t base = forest.node_start[first];
    prepared.resize(static_cast<std::size_t>(forest.node_start[last] - base));
    for (std::uint32_t tree = first; tree < last; ++tree)
      prepare_tree(forest.nodes + forest.node_start[tree], forest.node_start[tree + 1] - forest.node_start[tree],
                   thresholds.edge, thresholds.offset, prepared.data() + (forest.node_start[tree] - base));
    for (std::size_t begin = 0; begin < n; begin += tile) {
      const std::size_t end = std::min(begin + tile, n);
      for (std::uint32_t tree = first; tree < last; ++tree) {
        const Prepared* nodes = prepared.data() + (forest.node_start[tree] - base);
        const typename Prepared::Value* rows[kRowLanes];
        std::uint32_t at[kRowLanes];
        for (std::size_t i = begin; i < end; i += kRowLanes) {
          for (int k = 0; k < kRowLanes; ++k) rows[k] = values + std::min(i + k, end - 1) * stride;
          descend_prepared(nodes, rows, at);
          const int lanes = static_cast<int>(std::min<std::size_t>(kRowLanes, end - i));
          for (int k = 0; k < lanes; ++k) sink(tree, i + k, at[k]);
        }
      }
    }
  }
}

// The same, adding up class vectors.
template <class Prepared>
void add_prepared(const ForestView& forest, const typename Prepared::Value* values, std::size_t n, std::size_t stride,
                  const Thresholds& thresholds, double* out) {
  const std::size_t n_classes = forest.n_classes;
  const std::size_t tile = tile_rows(stride * sizeof(typename Prepared::Value) + n_classes * sizeof(double));
  walk_prepared<Prepared>(forest, values, n, stride, thresholds, tile,
                          [&](std::uint32_t tree, std::size_t row, std::uint32_t node) {
                            add_leaf(forest, tree, forest.nodes[forest.node_start[tree] + node], out + row * n_classes);
                          });
}

// The same on bin codes; a step is cheaper where no code is missing.
void add_codes(const ForestView& forest, const std::uint8_t* codes, std::size_t n, std::size_t stride, double* out) {
  if (std::memchr(codes, kMissingCode, n * stride))
    add_prepared<CodeNode<true>>(forest, codes, n, stride, {nullptr, nullptr}, out);
  else
    add_prepared<CodeNode<false>>(forest, codes, n, stride, {nullptr, nullptr}, out);
}

// Bin codes of row-major numbers, strip by strip of rows.
template <class Value>
void bin_rows(const Value* values, std::size_t n, std::size_t width, const Thresholds& thresholds, std::uint8_t* out) {
  constexpr std::size_t kStrip = 128;
  double column[kStrip];
  std::uint8_t codes[kStrip];
  for (std::size_t begin = 0; begin < n; begin += kStrip) {
    const std::size_t rows = std::min(kStrip, n - begin);
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t i = 0; i < rows; ++i) column[i] = static_cast<double>(values[(begin + i) * width + j]);
      const auto n_edges = static_cast<std::size_t>(thresholds.offset[j + 1] - thresholds.offset[j] - 1);
      bin_column(column, rows, thresholds.edge + thresholds.offset[j], n_edges, codes);
      for (std::size_t i = 0; i < rows; ++i) out[(begin + i) * width + j] = codes[i];
    }
  }
}

bool has_categories(const ForestView& forest) { return forest.category_start[forest.n_trees] > 0; }

bool prepared_pays(const ForestView& forest, const Bins& bins, std::uint32_t n_rows) {
  return n_rows >= kRowsWorthPreparing && !has_categories(forest) && bins.n_columns() <= CodeNode<true>::kMaxColumns;
}

}  // namespace

void predict_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end, double* out) {
  std::vector<std::uint8_t> tile;
  if (prepared_pays(forest, bins, end - begin)) {
    fill_tile(bins, nullptr, begin, end - begin, tile);
    return add_codes(forest, tile.data(), end - begin, bins.n_columns(), out);
  }
  const std::uint32_t step = tile_rows(bins.n_columns());
  for (std::uint32_t at = begin; at < end; at += step) {
    std::uint32_t n = std::min(step, end - at);
    fill_tile(bins, nullptr, at, n, tile);
    add_tile(forest, CodeRows{tile.data(), bins.n_columns()}, n, out + (at - begin) * std::size_t(forest.n_classes));
  }
}

template <class Value>
void predict_values(const ForestView& forest, const Value* values, std::size_t n_rows, std::size_t stride,
                    const Thresholds& thresholds, double* out) {
  if (n_rows >= kRowsWorthPreparing && stride <= CodeNode<true>::kMaxColumns &&
      stride <= kColumnsWorthBinning * std::size_t(forest.n_trees)) {
    std::vector<std::uint8_t> codes(n_rows * stride);
    bin_rows(values, n_rows, stride, thresholds, codes.data());
    return add_codes(forest, codes.data(), n_rows, stride, out);
  }
  if (n_rows >= kRowsWorthPreparing)
    return add_prepared<ValueNode<Value>>(forest, values, n_rows, stride, thresholds, out);
  const std::uint32_t step = tile_rows(stride * sizeof(Value));
  for (std::size_t at = 0; at < n_rows; at += step) {
    auto n = static_cast<std::uint32_t>(std::min<std::size_t>(step, n_rows - at));
    ValueRows<Value> source{values + at * stride, stride, thresholds.edge, thresholds.offset};
    add_tile(forest, source, n, out + at * forest.n_classes);
  }
}

template void predict_values<float>(const ForestView&, const float*, std::size_t, std::size_t, const Thresholds&,
                                    double*);
template void predict_values<double>(const ForestView&, const double*, std::size_t, std::size_t, const Thresholds&,
                                     double*);

void apply_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end,
                 std::uint32_t max_depth, const std::uint32_t* node_value, std::uint32_t* out) {
  const std::size_t n_trees = forest.n_trees;
  std::vector<std::uint8_t> tile;
  auto sink_from = [&](std::uint32_t* block) {
    return [&forest, node_value, n_trees, block](std::uint32_t tree, std::size_t row, std::uint32_t node) {
      block[row * n_trees + tree] = node_value ? node_value[forest.node_start[tree] + node] : node;
    };
  };
  const std::uint32_t step = tile_rows(bins.n_columns() + n_trees * sizeof(std::uint32_t));
  if (max_depth == kNoLimit && prepared_pays(forest, bins, end - begin)) {
    fill_tile(bins, nullptr, begin, end - begin, tile);
    return walk_prepared<CodeNode<true>>(forest, tile.data(), end - begin, bins.n_columns(), {nullptr, nullptr}, step,
                                   sink_from(out));
  }
  for (std::uint32_t at = begin; at < end; at += step) {
    const std::uint32_t n = std::min(step, end - at);
    fill_tile(bins, nullptr, at, n, tile);
    auto sink = sink_from(out + (at - begin) * n_trees);
    for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
      rows_through_tree(forest, tree, CodeRows{tile.data(), bins.n_columns()}, n, max_depth,
                        [&](std::uint32_t i, std::uint32_t node) { sink(tree, i, node); });
  }
}

void predict_out_of_bag(const ForestView& forest, const Bins& bins, const BagRecipe& recipe, std::uint32_t begin,
                        std::uint32_t end, double* out, std::uint32_t* votes) {
  std::vector<std::uint8_t> tile;
  fill_tile(bins, recipe.rows, begin, end - begin, tile);
  std::vector<std::uint8_t> chosen;
  std::vector<std::uint32_t> position;
  const std::size_t width = bins.n_columns();
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    std::vector<std::uint32_t> counts = in_bag_counts(recipe.lottery, tree_key(recipe.seed, recipe.first_tree + tree));
    position.clear();
    for (std::uint32_t i = begin; i < end; ++i)
      if (counts[i] == 0) position.push_back(i - begin);
    chosen.resize(position.size() * width);
    for (std::size_t i = 0; i < position.size(); ++i)
      std::copy_n(tile.begin() + position[i] * width, width, chosen.begin() + i * width);
    if (position.empty()) continue;
    const Node* nodes = forest.nodes + forest.node_start[tree];
    rows_through_tree(forest, tree, CodeRows{chosen.data(), width}, static_cast<std::uint32_t>(position.size()), kNoLimit,
                      [&](std::uint32_t i, std::uint32_t node) {
                        add_leaf(forest, tree, nodes[node], out + position[i] * std::size_t(forest.n_classes));
                        ++votes[position[i]];
                      });
  }
}

}  // namespace surewood
