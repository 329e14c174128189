// One SVM at one row: decisions in double from single-precision kernel values. The reference for every
// other way to evaluate SVMs.
#pragma once

#include <cstdint>
#include <vector>

#include "svm/kernel.hpp"
#include "svm/pairwise_svm.hpp"
#include "svm/predict.hpp"

namespace surewood {

class RowEvaluator {
 public:
  RowEvaluator(const SvmTable& table, const KernelSpec& kernel);

  // Class code of SVM m at a row, given the row's products with all support rows.
  std::int32_t code(int m, const float* products, float row_norm);
  // The same where its product with support point k of the SVM is products[at[k]].
  std::int32_t code(int m, const float* products, const std::int32_t* at, float row_norm);
  // The same from the row itself: only the products that the SVM needs are formed, to the same bits.
  std::int32_t code_at(int m, const double* row, float row_norm);

  // Of the latest SVM that was evaluated; no decisions and no votes where it is a constant.
  const double* decisions() const { return decisions_; }
  void add_vote_fractions(int m, double* share) const;

  const PolyValues& poly(int m) const { return kernels_[m].poly(); }

 private:
  std::int32_t vote(int m, float row_norm);

  const SvmTable& table_;
  std::vector<Kernel> kernels_;
  SvmVotes votes_;
  const double* decisions_ = nullptr;
  std::vector<float> inner_, values_, support_norms_;
};

}  // namespace surewood
