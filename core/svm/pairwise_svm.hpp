// A trained one-vs-one SVM as flat arrays, and its votes.
#pragma once

#include <cstdint>
#include <vector>

#include "svm/kernel.hpp"

namespace surewood {

// Support points are sorted by class; row k of `coef` holds the coefficients of support point k in the
// n_classes - 1 pairs of its own class, in the order of the other class. Pairs are ordered (0,1), (0,2),
// ..., (1,2), ...; the first class of a pair is its positive side.
struct SvmView {
  int n_classes = 0, n_support = 0;
  const std::int32_t* class_support = nullptr;  // (n_classes,) support points of each class
  const double* coef = nullptr;                 // (n_support, n_classes - 1)
  const double* bias = nullptr;                 // (n_pairs,)
  int n_pairs() const { return n_classes * (n_classes - 1) / 2; }
};

// Scratch for evaluating SVMs one after the other.
class SvmVotes {
 public:
  // Decision values of all pairs from the kernel values at the support points.
  const double* decisions(const SvmView& svm, const float* values);
  // Index (within the SVM's classes) with the most pairwise votes, the lowest on ties. A decision of
  // exactly zero is a vote for the second class of the pair, as in libsvm.
  int winner(const SvmView& svm, const double* decisions);
  const std::vector<std::int32_t>& votes() const { return votes_; }

 private:
  std::vector<double> sums_, decisions_;
  std::vector<std::int32_t> votes_;
};

}  // namespace surewood
