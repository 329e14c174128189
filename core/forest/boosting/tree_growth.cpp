#include "forest/boosting/tree_growth.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "forest/boosting/kernels.hpp"

namespace surewood::boosting {

TreeGrowth::TreeGrowth(const BoostingRows& rows, const BoostingOptions& options, int n_directions)
    : table_(rows), options_(options), n_directions_(n_directions), width_(n_directions == 1 ? kNarrow : kWide) {}

TreeShape TreeGrowth::grow(const std::vector<std::uint32_t>& columns, double unit, std::vector<double>& gains) {
  columns_ = columns;
  unit_ = unit;
  codes_.clear();
  cell_start_.assign(1, 0);
  for (const std::uint32_t column : columns_) {
    codes_.push_back(table_.bins->by_column[column].codes);
    const std::size_t n_cells = table_.has_missing[column] ? 256 : table_.n_bins[column];
    cell_start_.push_back(cell_start_.back() + n_cells * width_);
  }
  free_cells_.clear();
  for (auto& cells : pool_) {
    if (cells.size() < cell_start_.back()) cells.resize(cell_start_.back());
    free_cells_.push_back(cells.data());
  }
  spare_order_.resize(order_.size());
  spare_gradients_.resize(gradients_.size());
  leaves_.clear();
  return options_.symmetric ? grow_levels(gains) : grow_leaves(gains);
}

TreeGrowth::Leaf TreeGrowth::root() {
  Leaf leaf;
  leaf.end = static_cast<std::uint32_t>(order_.size());
  if (may_split(leaf)) fill_cells(leaf);
  return leaf;
}

TreeShape TreeGrowth::grow_levels(std::vector<double>& gains) {
  std::vector<Cut> cuts;
  std::vector<Leaf> level{root()};
  TreeShape tree;
  tree.nodes.resize(1);
  while (cuts.size() < options_.depth) {
    const Cut cut = best_cut(level);
    if (!(cut.gain > (options_.leaf_penalty * double(level.size()) + options_.split_penalty) * unit_)) break;
    cuts.push_back(cut);
    gains[columns_[cut.place]] += cut.gain / unit_;
    const bool last = cuts.size() == options_.depth;
    tree.nodes.resize(2 * tree.nodes.size() + 1);
    std::vector<Leaf> next;
    for (Leaf& parent : level) {
      Leaf left, right;
      left.node = 2 * parent.node + 1;
      right.node = left.node + 1;
      divide(parent, cut, left, right);
      write_split(tree, parent, cut, left.node);
      if (table_.monotone) limit_values(tree, parent, cut, left, right);
      if (!last) histograms_of_children(parent, left, right);
      next.push_back(left);
      next.push_back(right);
    }
    level.swap(next);
  }
  for (const Leaf& leaf : level) tree.nodes[leaf.node] = {0, leaf_word(kPureLeaf)};
  if (table_.monotone && tree.lower.empty()) limit_values(tree, level[0], {}, level[0], level[0]);
  return tree;
}

TreeShape TreeGrowth::grow_leaves(std::vector<double>& gains) {
  TreeShape tree;
  tree.nodes.push_back({0, leaf_word(kPureLeaf)});
  leaves_.push_back(root());
  if (table_.monotone) limit_values(tree, leaves_[0], {}, leaves_[0], leaves_[0]);
  const auto search = [&](Leaf& leaf) {
    if (leaf.cells) leaf.cut = best_cut(std::vector<Leaf>{leaf});
  };
  search(leaves_[0]);
  while (leaves_.size() < options_.max_leaves) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < leaves_.size(); ++i)
      if (leaves_[i].cut.gain > leaves_[best].cut.gain) best = i;
    const Leaf parent = leaves_[best];
    if (!(parent.cut.gain > (options_.leaf_penalty + options_.split_penalty) * unit_)) break;
    gains[columns_[parent.cut.place]] += parent.cut.gain / unit_;
    const auto left_node = static_cast<std::uint32_t>(tree.nodes.size());
    Leaf left, right;
    left.node = left_node;
    right.node = left_node + 1;
    tree.nodes.resize(tree.nodes.size() + 2, {0, leaf_word(kPureLeaf)});
    divide(parent, parent.cut, left, right);
    write_split(tree, parent, parent.cut, left_node);
    if (table_.monotone) limit_values(tree, parent, parent.cut, left, right);
    if (leaves_.size() + 1 < options_.max_leaves) {
      histograms_of_children(parent, left, right);
      search(left);
      search(right);
    }
    leaves_[best] = left;
    leaves_.push_back(right);
  }
  return tree;
}

template <class Leaves>
TreeGrowth::Cut TreeGrowth::best_cut(const Leaves& leaves) {
  Cut best;
  std::vector<std::int32_t> totals(leaves.size() * width_);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].cells) total(leaves[i].cells, totals.data() + i * width_);
  double gain[256];
  for (std::uint32_t place = 0; place < columns_.size(); ++place) {
    const std::uint32_t column = columns_[place];
    const int n_bins = table_.n_bins[column];
    const bool missing = table_.has_missing[column];
    const GainRule rule{options_.l2 * unit_, options_.min_hessian * unit_, static_cast<std::int32_t>(options_.min_rows),
                        n_directions_, table_.monotone ? table_.monotone[column] : 0};
    for (const bool missing_left : {false, true}) {
      if (missing_left && !missing) break;
      const int n_cuts = missing && !missing_left ? n_bins : n_bins - 1;  // all known values may go left
      std::fill_n(gain, n_cuts, 0.0);
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (!leaves[i].cells) continue;
        const std::int32_t* cells = leaves[i].cells + cell_start_[place];
        add_gains(width_, cells, n_cuts, missing_left ? cells + kMissingCode * width_ : nullptr,
                  totals.data() + i * width_, rule, gain);
      }
      for (int c = 0; c < n_cuts; ++c)
        if (gain[c] > best.gain) best = {gain[c], place, static_cast<std::uint8_t>(c), missing_left};
    }
  }
  return best;
}

void TreeGrowth::divide(const Leaf& parent, const Cut& cut, Leaf& left, Leaf& right) {
  const std::uint8_t* codes = codes_[cut.place];
  const std::uint32_t word = number_word(0, cut.last_left, cut.missing_left);
  const std::size_t width = width_;
  std::uint32_t kept = parent.begin, moved = 0;
  std::uint32_t *order = order_.data(), *spare_order = spare_order_.data();
  std::int32_t *gradients = gradients_.data(), *spare_gradients = spare_gradients_.data();
  for (std::uint32_t i = parent.begin; i < parent.end; ++i) {  // both places are written, one of them stays
    const std::uint32_t row = order[i];
    const bool goes_left = number_left(word, codes[row]);
    std::int32_t own[kWide];
    copy_cell(width_, gradients + i * width, own);
    order[kept] = spare_order[moved] = row;
    copy_cell(width_, own, gradients + kept * width);
    copy_cell(width_, own, spare_gradients + moved * width);
    kept += goes_left;
    moved += !goes_left;
  }
  std::copy_n(spare_order_.begin(), moved, order_.begin() + kept);
  std::copy_n(spare_gradients_.begin(), std::size_t(moved) * width_, gradients_.begin() + std::size_t(kept) * width_);
  left.begin = parent.begin;
  left.end = right.begin = kept;
  right.end = parent.end;
}

void TreeGrowth::histograms_of_children(const Leaf& parent, Leaf& left, Leaf& right) {
  if (!parent.cells) return;
  const bool left_smaller = left.end - left.begin <= right.end - right.begin;
  Leaf &smaller = left_smaller ? left : right, &larger = left_smaller ? right : left;
  if (!may_split(larger)) {
    free_cells_.push_back(parent.cells);
    return;
  }
  fill_cells(smaller);
  const std::size_t n = cell_start_.back();
  std::int32_t* cells = larger.cells = parent.cells;
  for (std::size_t i = 0; i < n; ++i) cells[i] -= smaller.cells[i];
  if (!may_split(smaller)) {
    free_cells_.push_back(smaller.cells);
    smaller.cells = nullptr;
  }
}

void TreeGrowth::write_split(TreeShape& tree, const Leaf& parent, const Cut& cut, std::uint32_t left_node) const {
  tree.nodes[parent.node] = {left_node, number_word(columns_[cut.place], cut.last_left, cut.missing_left)};
}

// Children of a split on a monotone column stay on different sides of the middle of their values.
void TreeGrowth::limit_values(TreeShape& tree, const Leaf& parent, const Cut& cut, const Leaf& left,
                              const Leaf& right) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  tree.lower.resize(tree.nodes.size(), -kInfinite);
  tree.upper.resize(tree.nodes.size(), kInfinite);
  if (left.node == parent.node) return;  // a root without children
  const double lower = tree.lower[parent.node], upper = tree.upper[parent.node];
  for (const Leaf* child : {&left, &right}) {
    tree.lower[child->node] = lower;
    tree.upper[child->node] = upper;
  }
  const int direction = table_.monotone[columns_[cut.place]];
  if (direction == 0) return;
  const double middle =
      (std::clamp(value(left), lower, upper) + std::clamp(value(right), lower, upper)) / 2;
  tree.upper[(direction > 0 ? left : right).node] = middle;
  tree.lower[(direction > 0 ? right : left).node] = middle;
}

double TreeGrowth::value(const Leaf& leaf) const {
  std::int64_t gradient = 0, hessian = 0;
  for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) {
    gradient += gradients_[std::size_t(i) * width_];
    hessian += gradients_[std::size_t(i) * width_ + hessian_at(width_)];
  }
  const double below = double(hessian) + options_.l2 * unit_;
  return below > 0.0 ? -double(gradient) / below : 0.0;
}

void TreeGrowth::fill_cells(Leaf& leaf) {
  leaf.cells = take_cells();
  std::memset(leaf.cells, 0, cell_start_.back() * sizeof(std::int32_t));
  std::vector<std::int32_t*> cells(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j) cells[j] = leaf.cells + cell_start_[j];
  fill(width_, order_.data() + leaf.begin, gradients_.data() + std::size_t(leaf.begin) * width_, leaf.end - leaf.begin,
       codes_.data(), cells.data(), columns_.size());
}

std::int32_t* TreeGrowth::take_cells() {
  if (free_cells_.empty()) {
    pool_.emplace_back(cell_start_.back());
    return pool_.back().data();
  }
  std::int32_t* cells = free_cells_.back();
  free_cells_.pop_back();
  return cells;
}

void TreeGrowth::total(const std::int32_t* cells, std::int32_t* sum) const {
  std::fill_n(sum, width_, 0);
  for (std::size_t i = cell_start_[0]; i < cell_start_[1]; i += width_)
    for (int k = 0; k < width_; ++k) sum[k] += cells[i + k];
}

}  // namespace surewood::boosting
