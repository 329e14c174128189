// The two sides of a split: class weights, and the sums of the criterion's terms from which its score is made.
#pragma once

#include <cstdint>

#include "forest/criterion.hpp"

namespace surewood {

// Weight of the left side and terms of both, class by class. A local object stays in registers.
template <class Criterion>
struct SideSums {
  std::uint32_t left_weight = 0;
  std::int64_t left_terms = 0, right_terms = 0;

  void add(std::uint32_t left, std::uint32_t right) {
    left_weight += left;
    left_terms += Criterion::term(left);
    right_terms += Criterion::term(right);
  }

  // `weight` is that of the whole node.
  template <class Side>
  void store(std::uint32_t weight, Side& left, Side& right) const {
    left.weight = left_weight;
    right.weight = weight - left_weight;
    left.terms = left_terms;
    right.terms = right_terms;
  }
};

// A side of a split that was searched for.
struct SearchedSide {
  std::uint32_t n_present = 0, weight = 0;
  std::int64_t terms = 0;
};

// Both sides of a node with these class weights, from those of the left side; those of the right one are written.
template <class Criterion>
void sum_sides(const std::uint32_t* counts, std::uint32_t n_labels, std::uint32_t weight, const std::uint32_t* left,
               std::uint32_t* right, SearchedSide& left_side, SearchedSide& right_side) {
  SideSums<Criterion> sums;
  std::uint32_t in_left = 0, in_right = 0;
  for (std::uint32_t c = 0; c < n_labels; ++c) {
    const std::uint32_t l = left[c], r = counts[c] - l;
    right[c] = r;
    in_left += l != 0;
    in_right += r != 0;
    sums.add(l, r);
  }
  sums.store(weight, left_side, right_side);
  left_side.n_present = in_left;
  right_side.n_present = in_right;
}

inline double score_of(CriterionKind kind, const SearchedSide& left, const SearchedSide& right) {
  return kind == CriterionKind::kGini ? Gini::split(left.terms, left.weight, right.terms, right.weight)
                                      : Entropy::split(left.terms, left.weight, right.terms, right.weight);
}

}  // namespace surewood
