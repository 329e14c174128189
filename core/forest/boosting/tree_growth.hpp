// Grows one tree on rounded gradients: level by level with one split for all leaves, or leaf by leaf.
//
// Rows of a leaf and their gradients stand side by side; a split divides them in place. The histogram of the smaller
// child is filled, that of the larger one is what is left of the parent's. A split between equal gains is the one of the
// first column, then with missing values on the right, then with the lowest bin.
#pragma once

#include <cstdint>
#include <vector>

#include "common/aligned.hpp"
#include "forest/boosting/boosting.hpp"

namespace surewood::boosting {

// A grown tree before it has values.
struct TreeShape {
  std::vector<Node> nodes;
  std::vector<double> lower, upper;  // what values of each node may be, where a column is monotone; else empty
};

class TreeGrowth {
 public:
  // `n_directions` gradients per row.
  TreeGrowth(const BoostingRows& rows, const BoostingOptions& options, int n_directions);

  int width() const { return width_; }
  std::vector<std::uint32_t>& rows() { return order_; }             // of the next tree, filled by the caller
  AlignedVector<std::int32_t>& gradients() { return gradients_; }  // width() numbers for each of them

  // `columns` ascend; `unit` is what 1 is in the rounded numbers. Gains of splits are added to `gains`.
  TreeShape grow(const std::vector<std::uint32_t>& columns, double unit, std::vector<double>& gains);

  // The leaf of every row of the last tree if it was grown leaf by leaf: leaf(row, node).
  template <class Sink>
  void each_row(Sink sink) const {
    for (const Leaf& leaf : leaves_)
      for (std::uint32_t i = leaf.begin; i < leaf.end; ++i) sink(order_[i], leaf.node);
  }

 private:
  struct Cut {
    double gain = 0.0;
    std::uint32_t place = 0;  // of the column among those of the tree
    std::uint8_t last_left = 0;
    bool missing_left = false;
  };
  struct Leaf {
    std::uint32_t node = 0, begin = 0, end = 0;
    std::int32_t* cells = nullptr;  // its histograms, where it may be split
    Cut cut{};
  };

  TreeShape grow_levels(std::vector<double>& gains);
  TreeShape grow_leaves(std::vector<double>& gains);
  Leaf root();
  bool may_split(const Leaf& leaf) const { return leaf.end - leaf.begin >= 2 * options_.min_rows; }
  template <class Leaves>
  Cut best_cut(const Leaves& leaves);
  void divide(const Leaf& parent, const Cut& cut, Leaf& left, Leaf& right);
  void histograms_of_children(const Leaf& parent, Leaf& left, Leaf& right);
  void write_split(TreeShape& tree, const Leaf& parent, const Cut& cut, std::uint32_t left_node) const;
  void limit_values(TreeShape& tree, const Leaf& parent, const Cut& cut, const Leaf& left, const Leaf& right) const;
  double value(const Leaf& leaf) const;
  void fill_cells(Leaf& leaf);
  std::int32_t* take_cells();
  void total(const std::int32_t* cells, std::int32_t* sum) const;

  const BoostingRows& table_;
  const BoostingOptions& options_;
  const int n_directions_, width_;
  double unit_ = 1.0;
  std::vector<std::uint32_t> order_, spare_order_;
  AlignedVector<std::int32_t> gradients_, spare_gradients_;
  std::vector<std::uint32_t> columns_;
  std::vector<const std::uint8_t*> codes_;
  std::vector<std::size_t> cell_start_;  // of each column of the tree in a leaf's histograms
  std::vector<AlignedVector<std::int32_t>> pool_;
  std::vector<std::int32_t*> free_cells_;
  std::vector<Leaf> leaves_;
};

}  // namespace surewood::boosting
