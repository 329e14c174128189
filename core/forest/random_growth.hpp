// Growth of completely random trees whose leaves have no limits of their own: a node draws one feature and one
// threshold, and nothing is compared. The same trees as the general growth of forest/searched_growth.hpp, which serves
// the rest; here class weights are only summed to know which children are pure and what a split was worth.
//
// Large nodes know their class weights and sum those of the smaller child alone. Small ones, which are most of a tree,
// carry none: their samples are added to one cell a class, and visiting the samples again finds every cell that was
// touched and clears it. So the work at a node is never more than its rows ask for, with thousands of classes too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "forest/criterion.hpp"
#include "forest/feature_draw.hpp"
#include "forest/partition.hpp"
#include "forest/split.hpp"
#include "forest/split_random.hpp"
#include "forest/tree_builder.hpp"
#include "forest/tree_writer.hpp"

namespace surewood {

inline bool grows_at_random(const GrowOptions& options) {
  return options.splitter == Splitter::kCompletelyRandom && options.min_samples_leaf <= 1 &&
         options.min_weight_fraction_leaf <= 0.0 && options.min_impurity_decrease <= 0.0 && options.fast_kernels;
}

template <class Sample>
class RandomGrowth {
 public:
  RandomGrowth(const TrainingSet& training, const GrowOptions& options, const std::function<bool()>& interrupted,
               TreeArrays& out)
      : options_(options),
        bins_(*training.bins),
        layout_(bins_),
        interrupted_(interrupted),
        n_classes_(training.n_classes),
        few_(std::max(16u, training.n_classes)),
        writer_(out, training.n_classes),
        draw_(bins_.n_columns()),
        constant_(bins_.n_columns()),
        importance_(bins_.n_columns()),
        cells_(n_classes_, 0),
        counts_(n_classes_),
        left_(n_classes_),
        right_(n_classes_) {}

  // `samples` have classes as labels. False when interrupted.
  bool grow(std::vector<Sample>& samples, std::uint64_t key, double* importance) {
    const bool done =
        options_.criterion == CriterionKind::kGini ? grow_nodes<Gini>(samples, key) : grow_nodes<Entropy>(samples, key);
    if (!done) return false;
    writer_.end_tree();
    importance_.end_tree(importance);
    return true;
  }

 private:
  struct Work {
    std::uint32_t begin, n, node, depth, weight;
    std::uint64_t key;
    std::size_t constants;  // mark of the features known to be constant
    std::int64_t terms;     // sum of the criterion's terms of its class weights
  };
  struct Child {
    std::uint32_t begin, n, weight = 0;
    std::int64_t terms = 0;
  };

  template <class Criterion>
  bool grow_nodes(std::vector<Sample>& samples, std::uint64_t key) {
    bool open = begin_tree<Criterion>(samples, child_key(key, kRootId));
    while (open || pop()) {
      if ((visits_ += work_.n) > kVisitsBetweenChecks) {
        visits_ = 0;
        if (interrupted_ && interrupted_()) return false;
      }
      if (find_split()) {
        open = work_.n == 2 ? divide_pair<Criterion>() : divide<Criterion>();
      } else {
        mixed_leaf(work_.node, work_.begin, work_.n, work_.weight);
        open = false;
      }
    }
    return true;
  }

  // The root; false if it is a leaf.
  template <class Criterion>
  bool begin_tree(std::vector<Sample>& samples, std::uint64_t root_key) {
    const auto n = static_cast<std::uint32_t>(samples.size());
    samples_ = samples.data();
    codes_.resize(n + kCodePadding);
    spare_.resize(n);
    std::fill(counts_.begin(), counts_.end(), 0u);
    for (const Sample& sample : samples) counts_[sample.label()] += sample.weight();
    Child root{0, n};
    for (std::uint32_t count : counts_) {
      root.weight += count;
      root.terms += Criterion::term(count);
    }
    writer_.begin_tree();
    constant_.back_to(0);
    work_ = {0, n, 0, 0, root.weight, root_key, 0, root.terms};
    return !ends<Criterion>(root, 0, 0);
  }

  bool pop() {
    if (stack_.empty()) return false;
    work_ = stack_.back();
    stack_.pop_back();
    constant_.back_to(work_.constants);
    if (work_.n > few_) {
      const std::size_t at = arena_.size() - n_classes_;
      std::copy_n(arena_.data() + at, n_classes_, counts_.data());
      arena_.resize(at);
    }
    return true;
  }

  // The first drawn feature that varies, cut at random.
  bool find_split() {
    const std::vector<ColumnView>& columns = layout_.columns(work_.n);
    const Sample* samples = samples_ + work_.begin;
    Stream stream(work_.key);
    bool found = false;
    while (!found && !draw_.exhausted()) {
      const std::uint32_t feature = draw_.next(stream);
      if (constant_.knows(feature)) continue;
      found =
          draw_split(samples, work_.n, columns[feature], bins_.info[feature], feature, stream, codes_.data(), split_);
      if (!found) constant_.add(feature);
    }
    draw_.restore();
    if (found && two_sided(split_)) split_.missing_left = stream.coin();
    return found;
  }

  // Partitions the samples, writes the split node and makes its children leaves or work. True when the left child
  // is open now.
  template <class Criterion>
  bool divide() {
    Sample* samples = samples_ + work_.begin;
    const std::uint32_t n_left = partition_by_codes(samples, work_.n, spare_.data(), codes_.data(), Router(split_));
    Child left{work_.begin, n_left}, right{work_.begin + n_left, work_.n - n_left};
    if (work_.n > few_)
      sum_many<Criterion>(left, right);
    else
      sum_few<Criterion>(left, right);
    add_importance<Criterion>(Criterion::split(left.terms, left.weight, right.terms, right.weight));
    const std::uint32_t left_node = writer_.add_children(), depth = work_.depth + 1;
    writer_.split(work_.node, left_node, split_, split_.last_left, left.weight >= right.weight);
    const std::uint64_t key = work_.key;
    if (!ends<Criterion>(right, left_node + 1, depth)) {
      stack_.push_back({right.begin, right.n, left_node + 1, depth, right.weight, child_key(key, kRightId),
                        constant_.mark(), right.terms});
      if (right.n > few_) arena_.insert(arena_.end(), right_.begin(), right_.end());
    }
    if (ends<Criterion>(left, left_node, depth)) return false;
    if (left.n > few_) counts_.swap(left_);
    work_ = {left.begin, left.n, left_node, depth, left.weight, child_key(key, kLeftId), constant_.mark(), left.terms};
    return true;
  }

  // Two rows of two classes: the branch ends. A good part of all nodes.
  template <class Criterion>
  bool divide_pair() {
    const Router router(split_);
    const bool swapped = !router.goes_left(codes_[0]);
    const Sample left = samples_[work_.begin + swapped], right = samples_[work_.begin + !swapped];
    const std::uint32_t left_node = writer_.add_children();
    writer_.split(work_.node, left_node, split_, split_.last_left, left.weight() >= right.weight());
    writer_.pure_leaf(left_node, left.label());
    writer_.pure_leaf(left_node + 1, right.label());
    add_importance<Criterion>(Criterion::split(Criterion::term(left.weight()), left.weight(),
                                               Criterion::term(right.weight()), right.weight()));
    return false;
  }

  // What the split with this score adds to its feature's importance.
  template <class Criterion>
  void add_importance(double score) {
    importance_.add(split_.feature, (score - Criterion::node(work_.terms, work_.weight)) * Criterion::kUnit);
  }

  // From the class weights of the node; those of the children go to left_ and right_.
  template <class Criterion>
  void sum_many(Child& left, Child& right) {
    const bool few_left = left.n <= right.n;
    const Child& smaller = few_left ? left : right;
    const std::uint32_t* counts = counts_.data();  // locals stay in registers
    std::uint32_t *of_left = left_.data(), *of_right = right_.data();
    std::uint32_t* of_smaller = few_left ? of_left : of_right;
    std::fill_n(of_smaller, n_classes_, 0u);
    for (const Sample* s = samples_ + smaller.begin; s < samples_ + smaller.begin + smaller.n; ++s)
      of_smaller[s->label()] += s->weight();
    ChildSums<Criterion> sums;
    for (std::uint32_t c = 0; c < n_classes_; ++c) {
      const std::uint32_t other = counts[c] - of_smaller[c];
      const std::uint32_t l = few_left ? of_smaller[c] : other, r = few_left ? other : of_smaller[c];
      of_left[c] = l;
      of_right[c] = r;
      sums.add(l, r);
    }
    sums.store(work_.weight, left, right);
  }

  // From the samples alone. A cell has the left weight of a class in its low half, the right one in its high half.
  template <class Criterion>
  void sum_few(Child& left, Child& right) {
    const Sample* samples = samples_ + work_.begin;
    std::uint64_t* cells = cells_.data();
    for (std::uint32_t i = 0; i < left.n; ++i) cells[samples[i].label()] += samples[i].weight();
    for (std::uint32_t i = left.n; i < work_.n; ++i)
      cells[samples[i].label()] += std::uint64_t(samples[i].weight()) << 32;
    ChildSums<Criterion> sums;
    for (std::uint32_t i = 0; i < work_.n; ++i) {
      std::uint64_t& cell = cells[samples[i].label()];
      const auto l = static_cast<std::uint32_t>(cell), r = static_cast<std::uint32_t>(cell >> 32);
      cell = 0;
      sums.add(l, r);
    }
    sums.store(work_.weight, left, right);
  }

  // Writes the leaf if this child is one.
  template <class Criterion>
  bool ends(const Child& child, std::uint32_t node, std::uint32_t depth) {
    if (child.terms == Criterion::term(child.weight)) {  // one class has all the weight
      writer_.pure_leaf(node, samples_[child.begin].label());
      return true;
    }
    if (depth < options_.max_depth && !options_.is_small(child.n, depth)) return false;
    mixed_leaf(node, child.begin, child.n, child.weight);
    return true;
  }

  void mixed_leaf(std::uint32_t node, std::uint32_t begin, std::uint32_t n, std::uint32_t weight) {
    leaf_class_.clear();
    leaf_weight_.clear();
    for (const Sample* sample = samples_ + begin; sample < samples_ + begin + n; ++sample) {
      std::uint64_t& cell = cells_[sample->label()];
      if (cell == 0) leaf_class_.push_back(static_cast<std::uint16_t>(sample->label()));
      cell += sample->weight();
    }
    std::sort(leaf_class_.begin(), leaf_class_.end());
    for (std::uint16_t a_class : leaf_class_) {
      leaf_weight_.push_back(static_cast<std::uint32_t>(cells_[a_class]));
      cells_[a_class] = 0;
    }
    const auto n_present = static_cast<std::uint32_t>(leaf_class_.size());
    writer_.mixed_leaf(node, leaf_weight_.data(), leaf_class_.data(), n_present, n_present, weight);
  }

  const GrowOptions& options_;
  const Bins& bins_;
  Layout layout_;
  const std::function<bool()>& interrupted_;
  std::uint32_t n_classes_;
  std::uint32_t few_;  // rows of the largest node that carries no class weights
  TreeWriter writer_;
  FeatureDraw draw_;
  ConstantFeatures constant_;
  TreeImportance importance_;
  Split split_;
  std::vector<std::uint8_t> codes_;  // of the drawn feature, in sample order
  std::vector<Sample> spare_;
  std::vector<std::uint64_t> cells_;                  // one a class, all 0 between uses
  std::vector<std::uint32_t> counts_, left_, right_;  // class weights of a large open node and of its sides
  std::vector<std::uint32_t> arena_;                  // class weights of the large waiting nodes
  std::vector<std::uint16_t> leaf_class_;
  std::vector<std::uint32_t> leaf_weight_;
  std::vector<Work> stack_;
  Work work_{};
  Sample* samples_ = nullptr;
  std::uint64_t visits_ = 0;
};

}  // namespace surewood
