// What a split is, what a node shows to the searches for one, and the scratch memory they share.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"

namespace surewood {

// A row in the bag. `label` is its class in the node's own numbering (forest/searched_growth.hpp), `weight` its
// bootstrap count times its quantised sample weight. Trees whose weights fit 16 bits use the narrow one.
// One 64-bit word, so that moving a sample is one load and one store.
class NarrowSample {
 public:
  static constexpr std::uint32_t kMaxWeight = 0xFFFF;
  NarrowSample() = default;
  NarrowSample(std::uint32_t row, std::uint32_t label, std::uint32_t weight)
      : bits_(row | std::uint64_t(label) << 32 | std::uint64_t(weight) << 48) {}
  std::uint32_t row() const { return static_cast<std::uint32_t>(bits_); }
  std::uint32_t label() const { return static_cast<std::uint32_t>(bits_ >> 32) & 0xFFFFu; }
  std::uint32_t weight() const { return static_cast<std::uint32_t>(bits_ >> 48); }
  void set_label(std::uint32_t label) { bits_ = (bits_ & ~(0xFFFFull << 32)) | std::uint64_t(label) << 32; }

 private:
  std::uint64_t bits_;
};

class WideSample {
 public:
  WideSample() = default;
  WideSample(std::uint32_t row, std::uint32_t label, std::uint32_t weight)
      : bits_(row | std::uint64_t(label) << 32), weight_(weight) {}
  std::uint32_t row() const { return static_cast<std::uint32_t>(bits_); }
  std::uint32_t label() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  std::uint32_t weight() const { return static_cast<std::uint32_t>(weight_); }
  void set_label(std::uint32_t label) { bits_ = (bits_ & 0xFFFFFFFFull) | std::uint64_t(label) << 32; }

 private:
  std::uint64_t bits_, weight_;
};

// Smoothed statistics of categories, so that a set of them chosen by its class frequencies does not fit noise.
//
// Order: a category's frequency of the node's majority class is pulled to the node's by a prior worth kPriorRows rows.
// Score: of k categories in the node each beyond the second could memorise one row, whose impurity is taken off. For
// Gini that is the expected gain of k groups formed at random, less that of two.
constexpr double kPriorRows = 10.0;

struct CategoryPrior {
  double weight = 0.0;     // of the prior
  double of_majority = 0.0;  // its part in the node's majority class
  double row = 0.0;        // impurity of one row
  double share(std::uint64_t majority, std::uint64_t total) const {
    return (static_cast<double>(majority) + of_majority) / (static_cast<double>(total) + weight);
  }
  double penalty(std::uint32_t n_categories) const {
    return n_categories > 2 ? static_cast<double>(n_categories - 2) * row : 0.0;
  }
};

// What the search for a split needs to know about a node, samples apart.
struct NodeShape {
  std::uint32_t n;
  const std::uint32_t* counts;  // weight of each label
  std::uint32_t n_labels;
  std::uint32_t weight;      // total
  std::uint32_t majority;    // label with the largest weight, the first on ties
  std::uint32_t min_rows;    // fewest rows a child may have
  std::uint32_t min_weight;  // least weight of a child
  bool judged;               // a split has to decrease the impurity by some minimum
  CategoryPrior category;    // how categories are ordered and judged
  bool limited() const { return min_rows > 1 || min_weight > 0; }
  bool allows(std::uint32_t left_rows, std::uint32_t left_weight) const {
    return left_rows >= min_rows && n - left_rows >= min_rows && left_weight >= min_weight &&
           weight - left_weight >= min_weight;
  }
};

template <class Sample>
struct NodeView : NodeShape {
  const Sample* samples;
};

constexpr std::uint32_t kNoFeature = std::numeric_limits<std::uint32_t>::max();

struct Split {
  double score = -std::numeric_limits<double>::infinity();
  std::uint32_t feature = kNoFeature;
  std::uint32_t left_weight = 0;
  std::uint8_t last_left = 0;    // codes <= last_left go left ...
  std::uint8_t first_right = 0;  // ... and the next code present in the node is this one
  bool category = false;
  bool missing_seen = false;  // the node has missing values of this feature
  bool missing_left = false;
  CategorySet left_set;  // categories only: codes present in the node that go left
  CategorySet seen_set;  // categories only: codes present in the node
  bool found() const { return feature != kNoFeature; }
};

// Which way codes go at a split, for the codes that its node has.
struct Router {
  explicit Router(const Split& split)
      : set(split.left_set),
        category(split.category),
        shift(split.missing_left),
        test(static_cast<std::uint8_t>(split.last_left + split.missing_left)) {}
  bool number_left(std::uint8_t code) const { return static_cast<std::uint8_t>(code + shift) <= test; }
  bool goes_left(std::uint8_t code) const { return category ? set.has(code) : number_left(code); }
  const CategorySet& set;  // of the split
  bool category;
  std::uint8_t shift, test;
};

// Scratch of one growing tree; sized once, never shared between threads.
struct SplitScratch {
  std::vector<std::uint8_t> code;          // codes of one feature, in sample order
  std::vector<std::uint32_t> order;        // sample numbers sorted by code
  std::vector<std::uint32_t> left, right;  // class weights while scanning
  std::vector<std::uint32_t> best_left;    // class weights of the best split's left side
  void resize(std::uint32_t n, std::uint32_t n_labels) {
    code.resize(n);
    order.resize(n);
    left.resize(n_labels);
    right.resize(n_labels);
    best_left.resize(n_labels);
  }
};

enum class FeatureKind { kConstant, kVaries };

}  // namespace surewood
