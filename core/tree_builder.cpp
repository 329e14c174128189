// Depth-first growth with an explicit stack. A pending node is a range of the sample array plus its class
// weights in an arena that is popped in the same order. Classes are renumbered when few are left in a
// node ("labels"), so that deep nodes of many-class problems work with short vectors.
#include "tree_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "criterion.hpp"
#include "histogram.hpp"
#include "rng.hpp"
#include "split.hpp"
#include "split_random.hpp"
#include "split_scan.hpp"

namespace surewood {

namespace {

constexpr std::uint64_t kRootId = 2, kLeftId = 0, kRightId = 1;
constexpr std::uint64_t kVisitsBetweenChecks = 1u << 23;

struct Pending {
  std::uint32_t begin, n, node, depth;
  std::uint32_t n_labels, weight;
  std::size_t arena;  // n_labels class weights, then n_labels class numbers
  std::uint64_t key;
};

// Draws features without replacement from one permutation per tree and puts it back after every node,
// so a node's draws depend on its key alone.
class FeatureDraw {
 public:
  explicit FeatureDraw(std::uint32_t n_features) : permutation_(n_features) {
    for (std::uint32_t j = 0; j < n_features; ++j) permutation_[j] = j;
  }
  bool exhausted() const { return swapped_.size() == permutation_.size(); }
  std::uint32_t next(Stream& stream) {
    auto at = static_cast<std::uint32_t>(swapped_.size());
    std::uint32_t other = at + stream.below(static_cast<std::uint32_t>(permutation_.size()) - at);
    std::swap(permutation_[at], permutation_[other]);
    swapped_.push_back(other);
    return permutation_[at];
  }
  void restore() {
    for (std::size_t at = swapped_.size(); at-- > 0;) std::swap(permutation_[at], permutation_[swapped_[at]]);
    swapped_.clear();
  }

 private:
  std::vector<std::uint32_t> permutation_, swapped_;
};

// Labels are renumbered when the present ones fit a smaller tier of the histogram kernels.
bool worth_relabelling(std::uint32_t n_labels, std::uint32_t n_present) {
  return label_tier(n_present) < label_tier(n_labels);
}

template <class Sample>
class TreeBuilder {
 public:
  TreeBuilder(const TrainingSet& training, const GrowOptions& options, const std::function<bool()>& interrupted,
              TreeArrays& out)
      : training_(training), options_(options), bins_(*training.bins), interrupted_(interrupted), out_(out),
        draw_(bins_.n_columns()), tree_importance_(bins_.n_columns(), 0.0) {
    if (!bins_.by_row.empty())
      by_row_below_ = static_cast<std::uint32_t>(bins_.n_rows / std::sqrt(double(bins_.n_columns())));
  }

  // `samples` hold global classes as labels. False when interrupted.
  bool grow(std::vector<Sample>& samples, std::uint64_t key, double* importance) {
    begin_tree(samples, child_key(key, kRootId));
    while (!stack_.empty()) {
      Pending pending = stack_.back();
      stack_.pop_back();
      if ((visits_ += pending.n) > kVisitsBetweenChecks) {
        visits_ = 0;
        if (interrupted_ && interrupted_()) return false;
      }
      open_node(pending);
      Split split = search(pending);
      if (!split.found() || !worth_it(split)) {
        write_leaf(pending.node, counts_.data(), classes_.data(), pending.n_labels, pending.weight);
      } else {
        tree_importance_[split.feature] += (split.score - node_score_) * unit_;
        divide(pending, split);
      }
    }
    end_tree(importance);
    return true;
  }

 private:
  void begin_tree(std::vector<Sample>& samples, std::uint64_t root_key) {
    auto n = static_cast<std::uint32_t>(samples.size());
    samples_ = samples.data();
    scratch_.resize(n, training_.n_classes);
    spare_.resize(n);
    counts_.assign(training_.n_classes, 0);
    classes_.resize(training_.n_classes);
    std::uint32_t total = 0;
    for (const Sample& sample : samples) {
      counts_[sample.label] += sample.weight;
      total += sample.weight;
    }
    for (std::uint32_t c = 0; c < training_.n_classes; ++c) classes_[c] = c;
    root_weight_ = total;
    min_weight_ = static_cast<std::uint32_t>(std::ceil(options_.min_weight_fraction_leaf * total));
    base_ = out_.nodes.size();
    leaf_base_ = out_.leaf_class.size();
    category_base_ = out_.category_left.size();
    out_.nodes.push_back({0, 0});
    arena_.clear();
    child(0, 0, n, 0, root_key, counts_.data(), training_.n_classes);
  }

  void end_tree(double* importance) {
    out_.node_start.push_back(static_cast<std::int64_t>(out_.nodes.size()));
    out_.leaf_start.push_back(static_cast<std::int64_t>(out_.leaf_class.size()));
    out_.category_start.push_back(static_cast<std::int64_t>(out_.category_left.size()));
    double total = 0.0;
    for (double value : tree_importance_) total += value;
    for (std::size_t j = 0; j < tree_importance_.size(); ++j) {
      if (total > 0.0) importance[j] += tree_importance_[j] / total;
      tree_importance_[j] = 0.0;
    }
  }

  // Takes the class weights of a pending node from the arena; renumbers its labels when worth it.
  void open_node(Pending& pending) {
    const std::uint32_t* weights = arena_.data() + pending.arena;
    const std::uint32_t* classes = weights + pending.n_labels;
    std::uint32_t n_present = 0;
    for (std::uint32_t c = 0; c < pending.n_labels; ++c) n_present += weights[c] != 0;
    if (worth_relabelling(pending.n_labels, n_present)) {
      std::uint32_t next = 0;
      for (std::uint32_t c = 0; c < pending.n_labels; ++c) {
        if (weights[c] == 0) continue;
        counts_[next] = weights[c];
        classes_[next] = classes[c];
        scratch_.left[c] = next++;
      }
      Sample* samples = samples_ + pending.begin;
      for (std::uint32_t i = 0; i < pending.n; ++i)
        samples[i].label = static_cast<std::uint16_t>(scratch_.left[samples[i].label]);
      pending.n_labels = next;
    } else {
      std::copy_n(weights, pending.n_labels, counts_.begin());
      std::copy_n(classes, pending.n_labels, classes_.begin());
    }
    arena_.resize(pending.arena);
  }

  Split search(const Pending& pending) {
    return options_.criterion == CriterionKind::kGini ? search_by<Gini>(pending) : search_by<Entropy>(pending);
  }

  template <class Criterion>
  Split search_by(const Pending& pending) {
    NodeView<Sample> node{samples_ + pending.begin, pending.n,      counts_.data(),           pending.n_labels,
                          pending.weight,           0,              options_.min_samples_leaf, min_weight_};
    std::int64_t sum = 0;
    for (std::uint32_t c = 0; c < node.n_labels; ++c) {
      sum += Criterion::term(counts_[c]);
      if (counts_[c] > counts_[node.majority]) node.majority = c;
    }
    node_score_ = Criterion::side(sum, pending.weight);
    unit_ = Criterion::kUnit;
    const auto& columns = pending.n < by_row_below_ ? bins_.by_row : bins_.by_column;
    Stream stream(pending.key);
    Split best;
    if (histograms_apply<Criterion>(node)) {
      search_histograms(node, columns, stream, best);
      draw_.restore();
      return best;
    }
    std::uint32_t visited = 0;
    bool varies = false;
    while (!draw_.exhausted() && (visited < options_.max_features || !varies)) {
      std::uint32_t feature = draw_.next(stream);
      ++visited;
      FeatureKind kind;
      if (options_.splitter == Splitter::kBest)
        kind = scan_feature<Criterion>(node, columns[feature], bins_.info[feature], feature, scratch_, best);
      else
        kind = random_feature<Criterion>(node, columns[feature], bins_.info[feature], feature,
                                         options_.splitter == Splitter::kRandom, stream, scratch_, best);
      varies |= kind == FeatureKind::kVaries;
    }
    draw_.restore();
    if (best.found() && options_.splitter == Splitter::kCompletelyRandom) best.score = left_score<Criterion>(node);
    return best;
  }

  template <class Criterion>
  bool histograms_apply(const NodeView<Sample>& node) const {
    return std::is_same_v<Criterion, Gini> && options_.splitter == Splitter::kBest && options_.fast_kernels &&
           node.n_labels <= kHistogramLabels;
  }

  // The same search four features at a time. Beyond the quota one by one, until a feature varies.
  void search_histograms(const NodeView<Sample>& node, const std::vector<ColumnView>& columns, Stream& stream,
                         Split& best) {
    std::uint32_t visited = 0;
    bool varies = false;
    while (!draw_.exhausted() && (visited < options_.max_features || !varies)) {
      std::uint32_t wanted = visited < options_.max_features ? options_.max_features - visited : 1u;
      BatchFeature batch[kBatch];
      int n = 0;
      for (; n < kBatch && n < static_cast<int>(wanted) && !draw_.exhausted(); ++n) {
        std::uint32_t feature = draw_.next(stream);
        batch[n] = {columns[feature], &bins_.info[feature], feature};
      }
      bool batch_varies[kBatch];
      histogram_batch(node, batch, n, histograms_, scratch_, best, batch_varies);
      for (int k = 0; k < n; ++k) varies |= batch_varies[k];
      visited += static_cast<std::uint32_t>(n);
      if (best.score >= static_cast<double>(node.weight)) break;  // both sides pure: nothing can be better
    }
  }

  // The score of the split whose left class weights are in scratch_.best_left.
  template <class Criterion>
  double left_score(const NodeView<Sample>& node) {
    std::int64_t left = 0, right = 0;
    std::uint32_t left_weight = 0;
    for (std::uint32_t c = 0; c < node.n_labels; ++c) {
      left += Criterion::term(scratch_.best_left[c]);
      right += Criterion::term(node.counts[c] - scratch_.best_left[c]);
      left_weight += scratch_.best_left[c];
    }
    return Criterion::split(left, left_weight, right, node.weight - left_weight);
  }

  bool worth_it(const Split& split) const {
    if (options_.min_impurity_decrease <= 0.0) return true;
    double decrease = (split.score - node_score_) * unit_ / root_weight_;
    return decrease + std::numeric_limits<double>::epsilon() >= options_.min_impurity_decrease;
  }

  // Writes the split node, partitions its samples, and makes its children leaves or pending nodes.
  void divide(const Pending& pending, const Split& split) {
    auto left_node = static_cast<std::uint32_t>(out_.nodes.size() - base_);
    out_.nodes.push_back({0, 0});
    out_.nodes.push_back({0, 0});
    write_split(pending.node, left_node, pending, split);

    for (std::uint32_t c = 0; c < pending.n_labels; ++c) counts_[c] -= scratch_.best_left[c];  // now the right side
    std::uint32_t depth = pending.depth + 1;
    bool left_done = finished(scratch_.best_left.data(), pending.n_labels, depth);
    bool right_done = finished(counts_.data(), pending.n_labels, depth);
    std::uint32_t n_left = 0;
    if (!left_done || !right_done) n_left = partition(pending, out_.nodes[base_ + pending.node]);
    if (right_done)
      write_leaf(left_node + 1, counts_.data(), classes_.data(), pending.n_labels, pending.weight - split.left_weight);
    else
      child(left_node + 1, pending.begin + n_left, pending.n - n_left, depth, child_key(pending.key, kRightId),
            counts_.data(), pending.n_labels);
    if (left_done)
      write_leaf(left_node, scratch_.best_left.data(), classes_.data(), pending.n_labels, split.left_weight);
    else
      child(left_node, pending.begin, n_left, depth, child_key(pending.key, kLeftId), scratch_.best_left.data(),
            pending.n_labels);
  }

  bool finished(const std::uint32_t* counts, std::uint32_t n_labels, std::uint32_t depth) const {
    if (depth >= options_.max_depth) return true;
    std::uint32_t present = 0;
    for (std::uint32_t c = 0; c < n_labels; ++c) present += counts[c] != 0;
    return present < 2;
  }

  // A leaf if it has too few rows or one class, else a pending node.
  void child(std::uint32_t node, std::uint32_t begin, std::uint32_t n, std::uint32_t depth, std::uint64_t key,
             const std::uint32_t* counts, std::uint32_t n_labels) {
    std::uint32_t weight = 0;
    for (std::uint32_t c = 0; c < n_labels; ++c) weight += counts[c];
    if (n < options_.min_samples_split || weight / 2 < min_weight_ || finished(counts, n_labels, depth)) {
      write_leaf(node, counts, classes_.data(), n_labels, weight);
      return;
    }
    std::size_t at = arena_.size();
    arena_.insert(arena_.end(), counts, counts + n_labels);
    arena_.insert(arena_.end(), classes_.begin(), classes_.begin() + n_labels);
    stack_.push_back({begin, n, node, depth, n_labels, weight, at, key});
  }

  void write_split(std::uint32_t at, std::uint32_t left_node, const Pending& pending, const Split& split) {
    bool left_larger = split.left_weight >= pending.weight - split.left_weight;
    bool missing_left = split.missing_seen ? split.missing_left : left_larger;
    std::uint32_t word = split.feature << 10;
    std::uint32_t left = left_node;
    if (split.category) {
      CategorySet set = split.left_set;
      for (int k = 0; k < 4; ++k)
        if (left_larger) set.bits[k] |= ~split.seen_set.bits[k];  // unknown here: with the larger child
      left = static_cast<std::uint32_t>(out_.category_left.size() - category_base_);
      out_.category_left.push_back(left_node);
      out_.category_set.push_back(set);
      word |= 1u;
    } else {
      std::uint32_t last = middle_bin(bins_.info[split.feature].values, split.last_left, split.first_right);
      word |= (last + missing_left) << 2 | std::uint32_t(missing_left) << 1;
    }
    out_.nodes[base_ + at] = {left, word};
  }

  // The last bin left of the midpoint between the two neighbouring values of the node.
  std::uint32_t middle_bin(const double* values, std::uint8_t last_left, std::uint8_t first_right) const {
    if (options_.splitter != Splitter::kBest || first_right == kMissingCode || first_right == last_left + 1)
      return last_left;
    double middle = values[last_left] * 0.5 + values[first_right] * 0.5;
    return last_bin_below(values, last_left, first_right, middle);
  }

  // Stable partition of the node's samples; returns the number that go left.
  std::uint32_t partition(const Pending& pending, const Node& split) {
    const auto& columns = pending.n < by_row_below_ ? bins_.by_row : bins_.by_column;
    const ColumnView column = columns[node_feature(split.word)];
    Sample* samples = samples_ + pending.begin;
    if (node_category(split.word)) {
      const CategorySet set = out_.category_set[category_base_ + split.left];
      return partition_by(samples, pending.n, [&](std::uint32_t row) { return set.has(column[row]); });
    }
    const std::uint8_t test = static_cast<std::uint8_t>(node_test(split.word));
    const std::uint8_t shift = node_missing_left(split.word);
    return partition_by(samples, pending.n, [=](std::uint32_t row) {
      return static_cast<std::uint8_t>(column[row] + shift) <= test;
    });
  }

  template <class Test>
  std::uint32_t partition_by(Sample* samples, std::uint32_t n, Test goes_left) {
    std::uint32_t left = 0, right = 0;
    Sample* spare = spare_.data();
    for (std::uint32_t i = 0; i < n; ++i) {
      Sample sample = samples[i];
      std::uint32_t is_left = goes_left(sample.row);
      samples[left] = sample;
      spare[right] = sample;
      left += is_left;
      right += 1u - is_left;
    }
    std::copy_n(spare, right, samples + left);
    return left;
  }

  void write_leaf(std::uint32_t at, const std::uint32_t* counts, const std::uint32_t* classes, std::uint32_t n_labels,
                  std::uint32_t weight) {
    std::uint32_t present = 0, last = 0;
    for (std::uint32_t c = 0; c < n_labels; ++c)
      if (counts[c] != 0) {
        ++present;
        last = c;
      }
    Node& node = out_.nodes[base_ + at];
    if (present == 1) {
      node = {classes[last], kLeafWord | kPureLeaf};
    } else if (training_.n_classes == 2) {
      float share = static_cast<float>(static_cast<double>(counts[1]) / static_cast<double>(weight));
      node = {float_bits(share), kLeafWord | kBinaryLeaf};
    } else {
      node = {static_cast<std::uint32_t>(out_.leaf_class.size() - leaf_base_), kLeafWord | kMixedLeaf};
      out_.leaf_class.push_back(static_cast<std::uint16_t>(present));
      out_.leaf_weight.push_back(weight);
      for (std::uint32_t c = 0; c < n_labels; ++c) {
        if (counts[c] == 0) continue;
        out_.leaf_class.push_back(static_cast<std::uint16_t>(classes[c]));
        out_.leaf_weight.push_back(counts[c]);
      }
    }
  }

  const TrainingSet& training_;
  const GrowOptions& options_;
  const Bins& bins_;
  const std::function<bool()>& interrupted_;
  TreeArrays& out_;
  FeatureDraw draw_;
  std::vector<double> tree_importance_;
  SplitScratch scratch_;
  HistogramScratch histograms_;
  std::vector<Sample> spare_;
  std::vector<std::uint32_t> counts_, classes_;  // of the open node, by label
  std::vector<std::uint32_t> arena_;
  std::vector<Pending> stack_;
  Sample* samples_ = nullptr;
  std::uint32_t by_row_below_ = 0, root_weight_ = 0, min_weight_ = 0;
  std::size_t base_ = 0, leaf_base_ = 0, category_base_ = 0;
  double node_score_ = 0.0, unit_ = 1.0;
  std::uint64_t visits_ = 0;
};

// Bootstrap counts times sample weights; halved together until they sum to less than 2^31.
std::vector<std::uint32_t> tree_weights(const TrainingSet& training, const GrowOptions& options, std::uint64_t key) {
  std::vector<std::uint32_t> counts =
      in_bag_counts(options.sampling, training.n, options.n_draws, key, training.weight);
  if (training.weight == nullptr || options.sampling == Sampling::kResample) return counts;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < training.n; ++i) total += std::uint64_t(counts[i]) * training.weight[i];
  int shift = 0;
  while ((total >> shift) + training.n >= (1ull << 31)) ++shift;
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (counts[i] == 0) continue;
    std::uint64_t weight = std::uint64_t(counts[i]) * training.weight[i] >> shift;
    counts[i] = static_cast<std::uint32_t>(std::max<std::uint64_t>(weight, 1));
  }
  return counts;
}

template <class Sample>
std::vector<Sample> bag(const TrainingSet& training, const std::vector<std::uint32_t>& weights) {
  std::vector<Sample> samples;
  samples.reserve(training.n);
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (weights[i] == 0) continue;
    Sample sample{};
    sample.row = training.rows[i];
    sample.label = training.label[sample.row];
    sample.weight = static_cast<decltype(sample.weight)>(weights[i]);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

bool grow_trees(const TrainingSet& training, const GrowOptions& options, std::uint64_t seed,
                std::uint64_t first_tree, std::uint32_t n_trees, const std::function<bool()>& interrupted,
                TreeArrays& out, double* importance) {
  out.node_start.assign(1, 0);
  out.leaf_start.assign(1, 0);
  out.category_start.assign(1, 0);
  TreeBuilder<NarrowSample> narrow(training, options, interrupted, out);
  TreeBuilder<WideSample> wide(training, options, interrupted, out);
  for (std::uint64_t tree = first_tree; tree < first_tree + n_trees; ++tree) {
    if (interrupted && interrupted()) return false;
    std::uint64_t key = tree_key(seed, tree);
    std::vector<std::uint32_t> weights = tree_weights(training, options, key);
    bool fits = *std::max_element(weights.begin(), weights.end()) <= 0xFFFFu;
    bool done;
    if (fits) {
      auto samples = bag<NarrowSample>(training, weights);
      done = narrow.grow(samples, key, importance);
    } else {
      auto samples = bag<WideSample>(training, weights);
      done = wide.grow(samples, key, importance);
    }
    if (!done) return false;
  }
  return true;
}

}  // namespace surewood
