// Depth-first growth of trees that search for their splits. The open node's class weights are at hand; a right child
// waits on a stack, its class weights in an arena. Classes are renumbered when few are left in a node ("labels").
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/rng.hpp"
#include "forest/criterion.hpp"
#include "forest/feature_draw.hpp"
#include "forest/histogram.hpp"
#include "forest/partition.hpp"
#include "forest/split.hpp"
#include "forest/split_random.hpp"
#include "forest/split_scan.hpp"
#include "forest/tree_builder.hpp"
#include "forest/tree_writer.hpp"

namespace surewood {

// A node to be split: a range of the samples and what is known about its classes.
struct SearchedNode {
  std::uint32_t begin, n, node, depth;
  std::uint32_t n_labels, n_present, weight;
  std::uint32_t map, map_end;  // its label -> class map in maps_, and where a new one would go
  std::uint64_t key;
  std::size_t constants;  // mark of the features known to be constant
  std::int64_t terms;     // sum of the criterion's terms of its class weights
};

template <class Sample>
class SearchedGrowth {
 public:
  SearchedGrowth(const TrainingSet& training, const GrowOptions& options, const std::function<bool()>& interrupted,
                 TreeArrays& out)
      : training_(training),
        options_(options),
        bins_(*training.bins),
        layout_(bins_),
        interrupted_(interrupted),
        quota_(options.splitter == Splitter::kCompletelyRandom ? 1u : options.max_features),
        writer_(out, training.n_classes),
        draw_(bins_.n_columns()),
        constant_(bins_.n_columns()),
        importance_(bins_.n_columns()) {
    for (const ColumnInfo& info : bins_.info) any_category_ |= info.is_category;
  }

  // `samples` have classes as labels. False when interrupted.
  bool grow(std::vector<Sample>& samples, std::uint64_t key, double* importance) {
    bool open = begin_tree(samples, child_key(key, kRootId));
    while (open || pop()) {
      if ((visits_ += work_.n) > kVisitsBetweenChecks) {
        visits_ = 0;
        if (interrupted_ && interrupted_()) return false;
      }
      if (work_.n == 2 && !limited() && split_pair()) {
        open = false;
        continue;
      }
      if (label_tier(work_.n_present) < label_tier(work_.n_labels)) relabel();
      Split split = options_.criterion == CriterionKind::kGini ? search<Gini>() : search<Entropy>();
      if (!split.found() || !worth_it(split)) {
        writer_.mixed_leaf(work_.node, counts_.data(), maps_.data() + work_.map, work_.n_labels, work_.n_present,
                           work_.weight);
        open = false;
      } else {
        open = divide(split);
      }
    }
    writer_.end_tree();
    importance_.end_tree(importance);
    return true;
  }

 private:
  // The root; false if it is a leaf.
  bool begin_tree(std::vector<Sample>& samples, std::uint64_t root_key) {
    const auto n = static_cast<std::uint32_t>(samples.size());
    const std::uint32_t n_classes = training_.n_classes;
    samples_ = samples.data();
    scratch_.resize(n, n_classes);
    spare_.resize(n);
    counts_.assign(n_classes, 0);
    right_.resize(n_classes);
    maps_.resize(n_classes);
    for (std::uint32_t c = 0; c < n_classes; ++c) maps_[c] = static_cast<std::uint16_t>(c);
    for (const Sample& sample : samples) counts_[sample.label()] += sample.weight();
    ChildClasses root;
    for (std::uint32_t count : counts_) {
      root.weight += count;
      root.n_present += count != 0;
      root.terms += options_.criterion == CriterionKind::kGini ? Gini::term(count) : Entropy::term(count);
    }
    root_weight_ = root.weight;
    min_weight_ = static_cast<std::uint32_t>(std::ceil(options_.min_weight_fraction_leaf * root_weight_));
    writer_.begin_tree();
    work_ = {0, n, 0, 0, n_classes, root.n_present, root.weight, 0, n_classes, root_key, 0, root.terms};
    constant_.back_to(0);
    if (!finished(root, 0) && !too_small(n, root.weight, 0)) return true;
    leaf(0, counts_.data(), root);
    return false;
  }

  bool pop() {
    if (stack_.empty()) return false;
    work_ = stack_.back();
    stack_.pop_back();
    constant_.back_to(work_.constants);
    std::size_t at = arena_.size() - work_.n_labels;
    copy_few(arena_.data() + at, work_.n_labels, counts_.data());
    arena_.resize(at);
    return true;
  }

  // Numbers the classes that are present 0, 1, ... in ascending order of class.
  void relabel() {
    if (maps_.size() < std::size_t(work_.map_end) + work_.n_present) maps_.resize(work_.map_end + work_.n_present);
    std::uint32_t next = 0;
    for (std::uint32_t c = 0; c < work_.n_labels; ++c) {
      if (counts_[c] == 0) continue;
      counts_[next] = counts_[c];
      maps_[work_.map_end + next] = maps_[work_.map + c];
      scratch_.left[c] = next++;
    }
    Sample* samples = samples_ + work_.begin;
    for (std::uint32_t i = 0; i < work_.n; ++i) samples[i].set_label(scratch_.left[samples[i].label()]);
    work_.map = work_.map_end;
    work_.map_end += next;
    work_.n_labels = next;
  }

  // Two rows of two classes: the first feature that tells them apart ends the branch, as the general way would.
  bool split_pair() {
    const Sample *first = samples_ + work_.begin, *second = first + 1;
    const std::vector<ColumnView>& views = columns();
    Stream stream(work_.key);
    Split split;
    while (!draw_.exhausted() && !split.found()) {
      const std::uint32_t feature = draw_.next(stream);
      const ColumnInfo& info = bins_.info[feature];
      if (info.is_category) break;
      if (constant_.knows(feature)) continue;
      std::uint8_t low = views[feature][first->row()], high = views[feature][second->row()];
      if (low == high) continue;
      if (low > high) {
        std::swap(low, high);
        std::swap(first, second);
      }
      split.feature = feature;
      split.last_left = low;
      split.first_right = high;
      split.missing_seen = high == kMissingCode;
      if (options_.splitter != Splitter::kBest && !split.missing_seen)
        split.last_left = random_bin(info, low, high, stream);
    }
    draw_.restore();
    if (!split.found()) return false;
    split.left_weight = first->weight();
    const std::uint32_t left_node = writer_.add_children();
    write_split(left_node, split);
    writer_.pure_leaf(left_node, maps_[work_.map + first->label()]);
    writer_.pure_leaf(left_node + 1, maps_[work_.map + second->label()]);
    const double a = first->weight(), b = second->weight();
    importance_.add(
        split.feature,
        options_.criterion == CriterionKind::kGini
            ? (a + b) - (a * a + b * b) / (a + b)
            : -Entropy::node(Entropy::term(first->weight()) + Entropy::term(second->weight()), work_.weight) *
                  Entropy::kUnit);
    return true;
  }

  const std::vector<ColumnView>& columns() const { return layout_.columns(work_.n); }

  template <class Criterion>
  Split search() {
    NodeView<Sample> node{{work_.n, counts_.data(), work_.n_labels, work_.weight, 0, options_.min_samples_leaf,
                           min_weight_, options_.min_impurity_decrease > 0.0, {}},
                          samples_ + work_.begin};
    node_score_ = Criterion::node(work_.terms, work_.weight);
    unit_ = Criterion::kUnit;
    if (any_category_) set_categories<Criterion>(node);
    Stream stream(work_.key);
    Split best;
    if (options_.splitter == Splitter::kBest && std::is_same_v<Criterion, Gini> && options_.fast_kernels &&
        node.n_labels <= kHistogramLabels)
      search_histograms(node, stream, best);
    else
      search_one_by_one<Criterion>(node, stream, best);
    draw_.restore();
    return best;
  }

  // What the node's categories are compared with.
  template <class Criterion>
  void set_categories(NodeShape& node) const {
    node.majority = static_cast<std::uint32_t>(std::max_element(node.counts, node.counts + node.n_labels) - node.counts);
    const double weight = node.weight;
    node.category.weight = kPriorRows * options_.row_weight;
    node.category.of_majority = node.category.weight * (static_cast<double>(node.counts[node.majority]) / weight);
    node.category.row = options_.row_weight * ((Criterion::pure(node.weight) - node_score_) / weight);
  }

  template <class Criterion>
  void search_one_by_one(const NodeView<Sample>& node, Stream& stream, Split& best) {
    const std::vector<ColumnView>& views = columns();
    std::uint32_t visited = 0;
    bool varies = false;
    while (!draw_.exhausted() && (visited < quota_ || !varies)) {
      std::uint32_t feature = draw_.next(stream);
      ++visited;
      if (constant_.knows(feature)) continue;
      const ColumnInfo& info = bins_.info[feature];
      FeatureKind kind;
      if (options_.splitter == Splitter::kBest)
        kind = scan_feature<Criterion>(node, views[feature], info, feature, scratch_, best);
      else if (options_.splitter == Splitter::kRandom)
        kind = random_feature<Criterion>(node, views[feature], info, feature, stream, scratch_, best);
      else
        kind = completely_random_feature(node, views[feature], info, feature, stream, scratch_, best);
      if (kind == FeatureKind::kConstant)
        constant_.add(feature);
      else
        varies = true;
    }
  }

  // The same search four features at a time. Beyond the quota one by one, until a feature varies.
  void search_histograms(const NodeView<Sample>& node, Stream& stream, Split& best) {
    const std::vector<ColumnView>& views = columns();
    std::uint32_t visited = 0;
    bool varies = false;
    while (!draw_.exhausted() && (visited < quota_ || !varies)) {
      const std::uint32_t until = std::max(visited + 1, quota_);
      BatchFeature batch[kBatch];
      int n = 0;
      for (; n < kBatch && visited < until && !draw_.exhausted(); ++visited) {
        std::uint32_t feature = draw_.next(stream);
        if (!constant_.knows(feature)) batch[n++] = {views[feature], &bins_.info[feature], feature};
      }
      if (n == 0) continue;
      const std::uint32_t varying = histogram_batch(node, batch, n, histograms_, scratch_, best);
      varies |= varying != 0;
      for (int k = 0; k < n; ++k)
        if (!(varying >> k & 1u)) constant_.add(batch[k].feature);
      if (best.score >= static_cast<double>(node.weight)) break;  // both sides pure: nothing can be better
    }
  }

  bool worth_it(const Split& split) {
    if (options_.min_impurity_decrease <= 0.0) return true;
    double score = split.score;
    if (options_.splitter == Splitter::kCompletelyRandom) {
      ChildClasses left, right;
      sum_children(scratch_.best_left.data(), left, right);
      score = score_of(options_.criterion, left, right);
    }
    double decrease = (score - node_score_) * unit_ / root_weight_;
    return decrease + std::numeric_limits<double>::epsilon() >= options_.min_impurity_decrease;
  }

  bool limited() const {
    return options_.min_samples_leaf > 1 || min_weight_ > 0 || options_.min_impurity_decrease > 0.0;
  }

  // Writes the split node, partitions its samples and makes its children leaves or work. True when the left child
  // is open now.
  bool divide(Split& split) {
    const std::uint32_t left_node = writer_.add_children();
    const std::uint32_t* left = scratch_.best_left.data();
    std::uint32_t n_left = 0;
    ChildClasses left_child, right_child;
    sum_children(left, left_child, right_child);
    split.left_weight = left_child.weight;
    if (options_.splitter == Splitter::kCompletelyRandom) split.score = score_of(options_.criterion, left_child, right_child);
    const double decrease = (split.score - node_score_) * unit_;
    importance_.add(split.feature, split.category ? std::max(decrease, 0.0) : decrease);
    write_split(left_node, split);
    const std::uint32_t depth = work_.depth + 1;
    bool left_done = finished(left_child, depth), right_done = finished(right_child, depth);
    if (!left_done || !right_done) {
      n_left =
          partition_by_column(samples_ + work_.begin, work_.n, spare_.data(), columns()[split.feature], Router(split));
      left_done = left_done || too_small(n_left, left_child.weight, depth);
      right_done = right_done || too_small(work_.n - n_left, right_child.weight, depth);
    }
    if (right_done) {
      leaf(left_node + 1, right_.data(), right_child);
    } else {
      arena_.resize(arena_.size() + work_.n_labels);
      copy_few(right_.data(), work_.n_labels, arena_.data() + arena_.size() - work_.n_labels);
      stack_.push_back({work_.begin + n_left, work_.n - n_left, left_node + 1, depth, work_.n_labels,
                        right_child.n_present, right_child.weight, work_.map, work_.map_end,
                        child_key(work_.key, kRightId), constant_.mark(), right_child.terms});
    }
    if (left_done) {
      leaf(left_node, left, left_child);
      return false;
    }
    counts_.swap(scratch_.best_left);
    work_ = {work_.begin,         n_left,           left_node, depth,         work_.n_labels,
             left_child.n_present, left_child.weight, work_.map, work_.map_end, child_key(work_.key, kLeftId),
             constant_.mark(),    left_child.terms};
    return true;
  }

  // Both children of the open node from the class weights of the left one; those of the right one go to right_.
  void sum_children(const std::uint32_t* left, ChildClasses& left_child, ChildClasses& right_child) {
    if (options_.criterion == CriterionKind::kGini)
      surewood::sum_children<Gini>(counts_.data(), work_.n_labels, work_.weight, left, right_.data(), left_child,
                                right_child);
    else
      surewood::sum_children<Entropy>(counts_.data(), work_.n_labels, work_.weight, left, right_.data(), left_child,
                                   right_child);
  }

  bool finished(const ChildClasses& classes, std::uint32_t depth) const {
    return classes.n_present < 2 || depth >= options_.max_depth;
  }
  bool too_small(std::uint32_t n, std::uint32_t weight, std::uint32_t depth) const {
    return options_.is_small(n, depth) || weight / 2 < min_weight_;
  }

  void leaf(std::uint32_t at, const std::uint32_t* counts, const ChildClasses& classes) {
    const std::uint16_t* map = maps_.data() + work_.map;
    if (classes.n_present != 1) {
      writer_.mixed_leaf(at, counts, map, work_.n_labels, classes.n_present, classes.weight);
      return;
    }
    std::uint32_t label = 0;
    while (counts[label] == 0) ++label;
    writer_.pure_leaf(at, map[label]);
  }

  void write_split(std::uint32_t left_node, const Split& split) {
    writer_.split(work_.node, left_node, split, middle_bin(split),
                  split.left_weight >= work_.weight - split.left_weight);
  }

  // The last bin left of the midpoint between the two neighbouring values of the node.
  std::uint32_t middle_bin(const Split& split) const {
    if (options_.splitter != Splitter::kBest || split.category || split.first_right == kMissingCode ||
        split.first_right == split.last_left + 1)
      return split.last_left;
    const double* values = bins_.info[split.feature].values;
    return last_bin_below(values, split.last_left, split.first_right,
                          values[split.last_left] * 0.5 + values[split.first_right] * 0.5);
  }

  const TrainingSet& training_;
  const GrowOptions& options_;
  const Bins& bins_;
  Layout layout_;
  const std::function<bool()>& interrupted_;
  std::uint32_t quota_;  // features to try at a node
  TreeWriter writer_;
  FeatureDraw draw_;
  ConstantFeatures constant_;
  TreeImportance importance_;
  SplitScratch scratch_;
  HistogramScratch histograms_;
  std::vector<Sample> spare_;
  std::vector<std::uint32_t> counts_, right_;  // of the open node and of its right side, by label
  std::vector<std::uint16_t> maps_;            // label -> class, maps of nested nodes one after another
  std::vector<std::uint32_t> arena_;           // class weights of the waiting nodes
  std::vector<SearchedNode> stack_;
  SearchedNode work_{};
  Sample* samples_ = nullptr;
  std::uint32_t root_weight_ = 0, min_weight_ = 0;
  double node_score_ = 0.0, unit_ = 1.0;
  std::uint64_t visits_ = 0;
  bool any_category_ = false;
};

}  // namespace surewood
