// Gini and entropy on integer class weights.
//
// Both keep one exact integer per child that is updated as weight moves from right to left, so a score
// is a function of the class weights alone: never of row order, lanes or instruction set.
//   Gini:    sum of squared class weights; score = L2 / WL + R2 / WR
//   Entropy: sum of w log2 w in fixed point; score = (L - WL log2 WL) + (R - WR log2 WR)
// A larger score is a better split; score minus the node's own score is the decrease of impurity times
// the node's weight. Weights of a node sum to less than 2^31.
//
// Library logarithms may differ in the last bit between instruction sets, so w log2 w comes from a table (small weights)
// and a fixed series of plain operations (large ones): the same integer on every machine.
#pragma once

#include <cstdint>

namespace surewood {

constexpr int kLogFraction = 24;           // bits after the binary point; 2^31 * 31 * 2^24 < 2^63
constexpr std::uint32_t kLogTable = 1 << 16;  // weights below this are looked up: half a megabyte

extern const std::int64_t* const weight_log2_table;
std::int64_t weight_log2_series(std::uint32_t w);

// round(w log2 w * 2^24)
inline std::int64_t weight_log2(std::uint32_t w) {
  return w < kLogTable ? weight_log2_table[w] : weight_log2_series(w);
}

enum class CriterionKind : int { kGini = 0, kEntropy = 1 };

struct Gini {
  static constexpr double kUnit = 1.0;
  static double pure(std::uint32_t total) { return static_cast<double>(total); }  // score of a node of one class
  static std::int64_t term(std::uint32_t w) { return static_cast<std::int64_t>(w) * w; }
  static double node(std::int64_t sum, std::uint32_t total) {
    return static_cast<double>(sum) / static_cast<double>(total);
  }
  static double split(std::int64_t left, std::uint32_t left_total, std::int64_t right, std::uint32_t right_total) {
    return node(left, left_total) + node(right, right_total);
  }
};

struct Entropy {
  static constexpr double kUnit = 1.0 / static_cast<double>(1 << kLogFraction);
  static double pure(std::uint32_t) { return 0.0; }
  static std::int64_t term(std::uint32_t w) { return weight_log2(w); }
  static double node(std::int64_t sum, std::uint32_t total) { return static_cast<double>(sum - weight_log2(total)); }
  static double split(std::int64_t left, std::uint32_t left_total, std::int64_t right, std::uint32_t right_total) {
    return static_cast<double>((left - weight_log2(left_total)) + (right - weight_log2(right_total)));
  }
};

// Weight of the left child and terms of both, class by class. A local object stays in registers.
template <class Criterion>
struct ChildSums {
  std::uint32_t left_weight = 0;
  std::int64_t left_terms = 0, right_terms = 0;

  void add(std::uint32_t left, std::uint32_t right) {
    left_weight += left;
    left_terms += Criterion::term(left);
    right_terms += Criterion::term(right);
  }

  // `weight` is that of the whole node.
  template <class Child>
  void store(std::uint32_t weight, Child& left, Child& right) const {
    left.weight = left_weight;
    right.weight = weight - left_weight;
    left.terms = left_terms;
    right.terms = right_terms;
  }
};

// What is known of the classes of a child.
struct ChildClasses {
  std::uint32_t n_present = 0, weight = 0;
  std::int64_t terms = 0;
};

// Both children of a node with these class weights, from those of the left one; those of the right one are written.
template <class Criterion>
void sum_children(const std::uint32_t* counts, std::uint32_t n_labels, std::uint32_t weight, const std::uint32_t* left,
               std::uint32_t* right, ChildClasses& left_child, ChildClasses& right_child) {
  ChildSums<Criterion> sums;
  std::uint32_t in_left = 0, in_right = 0;
  for (std::uint32_t c = 0; c < n_labels; ++c) {
    const std::uint32_t l = left[c], r = counts[c] - l;
    right[c] = r;
    in_left += l != 0;
    in_right += r != 0;
    sums.add(l, r);
  }
  sums.store(weight, left_child, right_child);
  left_child.n_present = in_left;
  right_child.n_present = in_right;
}

inline double score_of(CriterionKind kind, const ChildClasses& left, const ChildClasses& right) {
  return kind == CriterionKind::kGini ? Gini::split(left.terms, left.weight, right.terms, right.weight)
                                      : Entropy::split(left.terms, left.weight, right.terms, right.weight);
}

}  // namespace surewood
