#include "forest/forest_predict.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "forest/bin_column.hpp"
#include "forest/descend.hpp"
#include "forest/prepared_tree.hpp"
#include "forest/short_nodes.hpp"

namespace surewood {

namespace {

constexpr std::size_t kTileBytes = 192 * 1024;  // rows of a tile; the largest lever of prediction speed
constexpr std::int64_t kGroupNodes = 1 << 18;   // nodes prepared together
constexpr std::uint32_t kRowsWorthPreparing = 128;
constexpr std::uint32_t kTreesWorthSorting = 16;
constexpr std::size_t kColumnsWorthBinning = 2;  // a tree: with more columns raw thresholds are quicker than bins
constexpr std::size_t kMaxColumns = PackedTree<std::uint64_t>::kMaxColumns / 2;  // missing values take a second one

std::uint32_t tile_rows(std::size_t bytes_a_row) {
  std::size_t rows = kTileBytes / std::max<std::size_t>(bytes_a_row, 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(rows, 16, 8192));
}

// Copies rows begin ... begin + n - 1 of the matrix into row-major order.
void fill_tile(const Bins& bins, const std::uint32_t* rows, std::uint32_t begin, std::uint32_t n,
               std::vector<std::uint8_t>& tile) {
  const std::size_t width = bins.n_columns();
  tile.resize(width * n + 1);  // a row that has arrived still reads a code, where there is no column, too
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
  const std::uint32_t kind = leaf_kind(leaf.word);
  if (kind == kPureLeaf) {
    out[leaf.left] += 1.0;
  } else if (kind == kBinaryLeaf) {
    double second = static_cast<double>(bits_float(leaf.left));
    out[0] += 1.0 - second;
    out[1] += second;
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
      row_through_trees(forest, i, source, kNoDepthLimit, [&](std::uint32_t tree, std::uint32_t node) {
        add_leaf(forest, tree, tree_nodes(forest, tree)[node], out + i * std::size_t(forest.n_classes));
      });
    return;
  }
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    const TreeNodes nodes = tree_nodes(forest, tree);
    rows_through_tree(forest, tree, source, n, kNoDepthLimit, [&](std::uint32_t i, std::uint32_t node) {
      add_leaf(forest, tree, nodes[node], out + i * std::size_t(forest.n_classes));
    });
  }
}

// Groups of trees that are prepared together: sink(first, last) for each.
template <class Sink>
void tree_groups(const ForestView& forest, Sink sink) {
  for (std::uint32_t first = 0, last; first < forest.n_trees; first = last) {
    last = first + 1;
    while (last < forest.n_trees && forest.node_start[last + 1] - forest.node_start[first] <= kGroupNodes) ++last;
    sink(first, last);
  }
}

// All trees over `n` rows of numbers (row i at values + i * stride), in groups of prepared trees and tiles of rows.
template <class Value>
void add_values(const ForestView& forest, const Value* values, std::size_t n, std::size_t stride,
                const Thresholds& thresholds, double* out) {
  const std::size_t n_classes = forest.n_classes;
  const std::size_t tile = tile_rows(stride * sizeof(Value) + n_classes * sizeof(double));
  std::vector<ValueNode<Value>> prepared;
  tree_groups(forest, [&](std::uint32_t first, std::uint32_t last) {
    const std::int64_t base = forest.node_start[first];
    prepared.resize(static_cast<std::size_t>(forest.node_start[last] - base));
    for (std::uint32_t tree = first; tree < last; ++tree)
      with_nodes(forest, tree, [&](auto nodes) {
        prepare_tree(nodes, forest.node_start[tree + 1] - forest.node_start[tree], thresholds.edge, thresholds.offset,
                     prepared.data() + (forest.node_start[tree] - base));
      });
    for (std::size_t begin = 0; begin < n; begin += tile) {
      const std::size_t end = std::min(begin + tile, n);
      for (std::uint32_t tree = first; tree < last; ++tree) {
        const ValueNode<Value>* nodes = prepared.data() + (forest.node_start[tree] - base);
        const TreeNodes leaves = tree_nodes(forest, tree);
        const Value* rows[kRowLanes];
        std::uint32_t at[kRowLanes];
        for (std::size_t i = begin; i < end; i += kRowLanes) {
          for (std::size_t k = 0; k < kRowLanes; ++k) rows[k] = values + std::min(i + k, end - 1) * stride;
          descend_in_step([&](std::uint32_t node, std::size_t k) { return nodes[node].next(rows[k]); }, at);
          for (std::size_t k = 0; k < kRowLanes && i + k < end; ++k)
            add_leaf(forest, tree, leaves[at[k]], out + (i + k) * n_classes);
        }
      }
    }
  });
}

// All trees over the rows of a tile of codes, in groups of packed trees and runs of `run` rows. `begin_group(first,
// last)` is called for every group, `sink(tree, row, leaves, count)` gets the leaves of neighbouring rows.
template <class Word, class Begin, class Sink>
void walk_packed(const ForestView& forest, const CodeTile& tile, std::size_t run, Begin begin_group, Sink sink) {
  std::vector<Word> packed;
  run = (run + kRowLanes - 1) / kRowLanes;
  tree_groups(forest, [&](std::uint32_t first, std::uint32_t last) {
    const std::int64_t base = forest.node_start[first];
    packed.resize(static_cast<std::size_t>(forest.node_start[last] - base));
    for (std::uint32_t tree = first; tree < last; ++tree)
      with_nodes(forest, tree, [&](auto nodes) {
        PackedTree<Word>::pack(nodes, forest.node_start[tree + 1] - forest.node_start[tree], tile,
                               packed.data() + (forest.node_start[tree] - base));
      });
    begin_group(first, last);
    for (std::size_t begin = 0; begin < tile.n_groups(); begin += run) {
      const std::size_t end = std::min(begin + run, tile.n_groups());
      for (std::uint32_t tree = first; tree < last; ++tree) {
        const Word* nodes = packed.data() + (forest.node_start[tree] - base);
        std::uint32_t at[kRowLanes];
        for (std::size_t group = begin; group < end; ++group) {
          const std::uint8_t* codes = tile.group(group);
          descend_in_step(
              [&](std::uint32_t node, std::size_t k) { return PackedTree<Word>::next(nodes, codes, node, k); }, at);
          const std::size_t row = group * kRowLanes;
          sink(tree, row, at, std::min(kRowLanes, tile.n_rows - row));
        }
      }
    }
  });
}

// Half words where they are enough.
template <class Begin, class Sink>
void walk_codes(const ForestView& forest, const CodeTile& tile, std::size_t run, Begin begin_group, Sink sink) {
  std::int64_t largest = 0;
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
    largest = std::max(largest, forest.node_start[tree + 1] - forest.node_start[tree]);
  using Half = PackedTree<std::uint32_t>;
  if (largest <= Half::kMaxNodes && tile.width() <= Half::kMaxColumns)
    walk_packed<std::uint32_t>(forest, tile, run, begin_group, sink);
  else
    walk_packed<std::uint64_t>(forest, tile, run, begin_group, sink);
}

// What the leaves of a group of trees say, copied out of the nodes: two classes as the probability of the second, which
// needs no branch; else the class, or a mark that there is a sparse vector.
class LeafContent {
 public:
  explicit LeafContent(const ForestView& forest)
      : forest_(forest), binary_(forest.n_classes == 2 && (forest.word_bits || !forest.leaf_start[forest.n_trees])) {}

  void begin_group(std::uint32_t first, std::uint32_t last) {
    base_ = forest_.node_start[first];
    content_.resize(static_cast<std::size_t>(forest_.node_start[last] - base_));
    for (std::uint32_t tree = first; tree < last; ++tree)
      with_nodes(forest_, tree, [&](auto nodes) {
        copy_content(nodes, forest_.node_start[tree + 1] - forest_.node_start[tree], binary_,
                     content_.data() + (forest_.node_start[tree] - base_));
      });
  }

  // Adds the vectors of the leaves of `count` neighbouring rows.
  void add(std::uint32_t tree, const std::uint32_t* at, std::size_t count, double* sums) const {
    const std::uint32_t* leaves = content_.data() + (forest_.node_start[tree] - base_);
    if (binary_) {
      for (std::size_t k = 0; k < count; ++k) {
        const double second = static_cast<double>(bits_float(leaves[at[k]]));
        sums[2 * k] += 1.0 - second;
        sums[2 * k + 1] += second;
      }
      return;
    }
    for (std::size_t k = 0; k < count; ++k, sums += forest_.n_classes) {
      const std::uint32_t leaf = leaves[at[k]];
      if (leaf == kMixedContent)
        add_leaf(forest_, tree, tree_nodes(forest_, tree)[at[k]], sums);
      else
        sums[leaf] += 1.0;
    }
  }

 private:
  const ForestView& forest_;
  const bool binary_;
  std::vector<std::uint32_t> content_;
  std::int64_t base_ = 0;
};

// Rows of a tile in the order of their leaves in the forest's first tree.
std::vector<std::uint32_t> rows_by_leaf(const ForestView& forest, const CodeTile& tile) {
  ForestView first = forest;
  first.n_trees = 1;
  std::vector<std::uint32_t> leaf(tile.n_rows), order(tile.n_rows);
  std::vector<std::uint32_t> start(static_cast<std::size_t>(forest.node_start[1] - forest.node_start[0]) + 1, 0);
  walk_codes(
      first, tile, tile.n_rows, [](std::uint32_t, std::uint32_t) {},
      [&](std::uint32_t, std::size_t row, const std::uint32_t* at, std::size_t count) {
        std::copy_n(at, count, leaf.begin() + row);
      });
  for (std::uint32_t node : leaf) ++start[node + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::size_t row = 0; row < leaf.size(); ++row) order[start[leaf[row]]++] = static_cast<std::uint32_t>(row);
  return order;
}

void add_in_order(const ForestView& forest, const CodeTile& tile, double* sums) {
  LeafContent content(forest);
  walk_codes(
      forest, tile, tile_rows(tile.width() + forest.n_classes * sizeof(double)),
      [&](std::uint32_t first, std::uint32_t last) { content.begin_group(first, last); },
      [&](std::uint32_t tree, std::size_t row, const std::uint32_t* at, std::size_t count) {
        content.add(tree, at, count, sums + row * forest.n_classes);
      });
}

// Class vectors of a tile of codes, added up. Rows that share a leaf of one tree go similar ways down the others: side
// by side they end at about the same depth, and what one reads is in the cache for the next.
void add_codes(const ForestView& forest, const CodeTile& tile, double* out) {
  if (forest.n_trees < kTreesWorthSorting) return add_in_order(forest, tile, out);
  const std::size_t n_classes = forest.n_classes;
  const std::vector<std::uint32_t> order = rows_by_leaf(forest, tile);
  std::vector<double> sums(tile.n_rows * n_classes);
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(out + order[i] * n_classes, n_classes, &sums[i * n_classes]);
  add_in_order(forest, tile.in_order(order), sums.data());
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(&sums[i * n_classes], n_classes, out + order[i] * n_classes);
}

// Bin codes of row-major numbers, strip by strip of rows.
template <class Value>
CodeTile bin_rows(const Value* values, std::size_t n, std::size_t width, const Thresholds& thresholds) {
  const bool missing = std::any_of(values, values + n * width, [](Value value) { return value != value; });
  CodeTile tile(n, width, missing);
  constexpr std::size_t kStrip = 128;
  double column[kStrip];
  std::uint8_t codes[kStrip];
  for (std::size_t begin = 0; begin < n; begin += kStrip) {
    const std::size_t rows = std::min(kStrip, n - begin);
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t i = 0; i < rows; ++i) column[i] = static_cast<double>(values[(begin + i) * width + j]);
      const auto n_edges = static_cast<std::size_t>(thresholds.offset[j + 1] - thresholds.offset[j] - 1);
      bin_column(column, rows, thresholds.edge + thresholds.offset[j], n_edges, codes);
      tile.put(j, begin, rows, codes);
    }
  }
  return tile;
}

bool has_categories(const ForestView& forest) { return forest.category_start[forest.n_trees] > 0; }

bool packing_pays(const ForestView& forest, const Bins& bins, std::uint32_t n_rows) {
  return n_rows >= kRowsWorthPreparing && !has_categories(forest) && bins.n_columns() <= kMaxColumns;
}

}  // namespace

void predict_codes(const ForestView& forest, const Bins& bins, std::uint32_t begin, std::uint32_t end, double* out) {
  if (packing_pays(forest, bins, end - begin)) return add_codes(forest, tile_of(bins, begin, end), out);
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
  if (n_rows >= kRowsWorthPreparing && stride <= kMaxColumns &&
      stride <= kColumnsWorthBinning * std::size_t(forest.n_trees))
    return add_codes(forest, bin_rows(values, n_rows, stride, thresholds), out);
  if (n_rows >= kRowsWorthPreparing) return add_values(forest, values, n_rows, stride, thresholds, out);
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
  const std::uint32_t step = tile_rows(bins.n_columns() + n_trees * sizeof(std::uint32_t));
  auto value_of = [&](std::uint32_t tree, std::uint32_t node) {
    return node_value ? node_value[forest.node_start[tree] + node] : node;
  };
  if (max_depth == kNoDepthLimit && packing_pays(forest, bins, end - begin))
    return walk_codes(
        forest, tile_of(bins, begin, end), step, [](std::uint32_t, std::uint32_t) {},
        [&](std::uint32_t tree, std::size_t row, const std::uint32_t* at, std::size_t count) {
          for (std::size_t k = 0; k < count; ++k) out[(row + k) * n_trees + tree] = value_of(tree, at[k]);
        });
  std::vector<std::uint8_t> tile;
  for (std::uint32_t at = begin; at < end; at += step) {
    const std::uint32_t n = std::min(step, end - at);
    fill_tile(bins, nullptr, at, n, tile);
    std::uint32_t* block = out + (at - begin) * n_trees;
    for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
      rows_through_tree(forest, tree, CodeRows{tile.data(), bins.n_columns()}, n, max_depth,
                        [&](std::uint32_t i, std::uint32_t node) { block[i * n_trees + tree] = value_of(tree, node); });
  }
}

void predict_out_of_bag(const ForestView& forest, const Bins& bins, const Bagging& bagging, std::uint32_t begin,
                        std::uint32_t end, double* out, std::uint32_t* votes) {
  std::vector<std::uint8_t> tile;
  fill_tile(bins, bagging.rows, begin, end - begin, tile);
  std::vector<std::uint8_t> chosen;
  std::vector<std::uint32_t> position;
  const std::size_t width = bins.n_columns();
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    std::vector<std::uint32_t> counts = in_bag_counts(bagging.sampler, tree_key(bagging.seed, bagging.first_tree + tree));
    position.clear();
    for (std::uint32_t i = begin; i < end; ++i)
      if (counts[i] == 0) position.push_back(i - begin);
    chosen.resize(position.size() * width);
    for (std::size_t i = 0; i < position.size(); ++i)
      std::copy_n(tile.begin() + position[i] * width, width, chosen.begin() + i * width);
    if (position.empty()) continue;
    const TreeNodes nodes = tree_nodes(forest, tree);
    rows_through_tree(forest, tree, CodeRows{chosen.data(), width}, static_cast<std::uint32_t>(position.size()),
                      kNoDepthLimit, [&](std::uint32_t i, std::uint32_t node) {
                        add_leaf(forest, tree, nodes[node], out + position[i] * std::size_t(forest.n_classes));
                        ++votes[position[i]];
                      });
  }
}

}  // namespace surewood
