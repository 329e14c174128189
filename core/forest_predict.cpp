#include "forest_predict.hpp"

#include <algorithm>
#include <vector>

#include "descend.hpp"

namespace surewood {

namespace {

constexpr std::size_t kTileBytes = 192 * 1024;  // rows of a tile; the largest lever of prediction speed
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
  for (std::size_t j = 0; j < width; ++j) {
    const ColumnView& column = bins.by_column[j];
    for (std::uint32_t i = 0; i < n; ++i) tile[i * width + j] = column[rows ? rows[begin + i] : begin + i];
  }
}

void add_leaf(const ForestView& forest, std::uint32_t tree, Node leaf, double* out) {
  switch (leaf.word & 3u) {
    case kPureLeaf:
      out[leaf.left] += 1.0;
      break;
    case kBinaryLeaf: {
      double share = static_cast<double>(bits_float(leaf.left));
      out[0] += 1.0 - share;
      out[1] += share;
      break;
    }
    default: {
      const std::uint16_t* classes = forest.leaf_class + forest.leaf_start[tree] + leaf.left;
      const std::uint32_t* weights = forest.leaf_weight + forest.leaf_start[tree] + leaf.left;
      double scale = 1.0 / static_cast<double>(weights[0]);
      for (std::uint32_t k = 1; k <= classes[0]; ++k) out[classes[k]] += scale * static_cast<double>(weights[k]);
    }
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

}  // namespace

void predict_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end, double* out) {
  std::vector<std::uint8_t> tile;
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
                 std::uint32_t max_depth, std::uint32_t* out) {
  std::vector<std::uint8_t> tile;
  const std::uint32_t step = tile_rows(bins.n_columns());
  for (std::uint32_t at = begin; at < end; at += step) {
    std::uint32_t n = std::min(step, end - at);
    fill_tile(bins, nullptr, at, n, tile);
    CodeRows source{tile.data(), bins.n_columns()};
    std::uint32_t* block = out + (at - begin) * std::size_t(forest.n_trees);
    for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
      rows_through_tree(forest, tree, source, n, max_depth, [&](std::uint32_t i, std::uint32_t node) {
        block[i * std::size_t(forest.n_trees) + tree] = node;
      });
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
    std::vector<std::uint32_t> counts =
        in_bag_counts(recipe.sampling, recipe.n, recipe.n_draws, tree_key(recipe.seed, recipe.first_tree + tree),
                      recipe.weight);
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
