// Writes one tree after another into TreeArrays; indices inside a tree are relative to it.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/flat_tree.hpp"
#include "forest/split.hpp"

namespace surewood {

class TreeWriter {
 public:
  TreeWriter(TreeArrays& out, std::uint32_t n_classes) : out_(out), n_classes_(n_classes) {}

  void begin_tree() {
    base_ = out_.nodes.size();
    leaf_base_ = out_.leaf_class.size();
    category_base_ = out_.category_left.size();
    out_.nodes.push_back({0, 0});
  }

  void end_tree() {
    out_.node_start.push_back(static_cast<std::int64_t>(out_.nodes.size()));
    out_.leaf_start.push_back(static_cast<std::int64_t>(out_.leaf_class.size()));
    out_.category_start.push_back(static_cast<std::int64_t>(out_.category_left.size()));
  }

  // Room for two children; the number of the left one.
  std::uint32_t add_children() {
    auto left = static_cast<std::uint32_t>(out_.nodes.size() - base_);
    out_.nodes.push_back({0, 0});
    out_.nodes.push_back({0, 0});
    return left;
  }

  // The split of node `at`, `last_left` the last bin of its left side. What the node has not seen (missing values,
  // unknown categories) goes with the larger child.
  void split(std::uint32_t at, std::uint32_t left, const Split& split, std::uint32_t last_left, bool left_larger) {
    if (!split.category) {
      number_split(at, left, split.feature, last_left, split.missing_seen ? split.missing_left : left_larger);
      return;
    }
    CategorySet set = split.left_set;
    for (int k = 0; k < 4; ++k)
      if (left_larger) set.bits[k] |= ~split.seen_set.bits[k];
    category_split(at, left, split.feature, set);
  }

  void number_split(std::uint32_t at, std::uint32_t left, std::uint32_t feature, std::uint32_t last_left,
                    bool missing_left) {
    out_.nodes[base_ + at] = {left, number_word(feature, last_left, missing_left)};
  }

  void category_split(std::uint32_t at, std::uint32_t left, std::uint32_t feature, const CategorySet& set) {
    auto entry = static_cast<std::uint32_t>(out_.category_left.size() - category_base_);
    out_.category_left.push_back(left);
    out_.category_set.push_back(set);
    out_.nodes[base_ + at] = {entry, category_word(feature)};
  }

  void pure_leaf(std::uint32_t at, std::uint32_t a_class) { out_.nodes[base_ + at] = {a_class, leaf_word(kPureLeaf)}; }

  // `counts` by label, `classes` the class of each label (ascending).
  void mixed_leaf(std::uint32_t at, const std::uint32_t* counts, const std::uint16_t* classes, std::uint32_t n_labels,
                  std::uint32_t n_present, std::uint32_t weight) {
    Node& node = out_.nodes[base_ + at];
    if (n_classes_ == 2) {
      node = {float_bits(static_cast<float>(static_cast<double>(counts[1]) / weight)), leaf_word(kBinaryLeaf)};
      return;
    }
    node = {static_cast<std::uint32_t>(out_.leaf_class.size() - leaf_base_), leaf_word(kMixedLeaf)};
    out_.leaf_class.push_back(static_cast<std::uint16_t>(n_present));
    out_.leaf_weight.push_back(weight);
    for (std::uint32_t c = 0; c < n_labels; ++c) {
      if (counts[c] == 0) continue;
      out_.leaf_class.push_back(classes[c]);
      out_.leaf_weight.push_back(counts[c]);
    }
  }

 private:
  TreeArrays& out_;
  std::uint32_t n_classes_;
  std::size_t base_ = 0, leaf_base_ = 0, category_base_ = 0;
};

class TreeImportance {
 public:
  explicit TreeImportance(std::uint32_t n_features) : decrease_(n_features, 0.0) {}
  void add(std::uint32_t feature, double decrease) { decrease_[feature] += decrease; }
  void end_tree(double* importance) {
    double total = 0.0;
    for (double value : decrease_) total += value;
    for (std::size_t j = 0; j < decrease_.size(); ++j) {
      if (total > 0.0) importance[j] += decrease_[j] / total;
      decrease_[j] = 0.0;
    }
  }

 private:
  std::vector<double> decrease_;
};

}  // namespace surewood
