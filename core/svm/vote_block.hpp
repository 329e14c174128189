// A block of rows put to one SVM in single precision, with a bound on what that may get wrong.
//
// Lanes are rows: every kernel value and every coefficient that is not zero costs one multiply-add for a
// register of rows. A pair counts as won only if its decision is further from zero than the bound. The result of
// a row is used only if its winner has the most votes however the other pairs end, so that it is certainly that
// of the double-precision evaluation (svm/predict.cpp), whatever the instruction set and the order of the sums;
// the few other rows are evaluated again.
#pragma once

#include <cstdint>
#include <vector>

#include "common/aligned.hpp"
#include "svm/pairwise_svm.hpp"
#include "svm/targets.hpp"

namespace surewood {

constexpr int kVoteRows = 32;    // rows a block
constexpr int kVoteSupport = 4;  // support points a panel
constexpr int kLowDegree = 4;    // beyond it kernel values are measured before they are doubted

// What the passes read of an SVM.
struct BlockSvm {
  int d = 0, n_support = 0, n_classes = 0;  // support points padded to panels
  PolyValues poly{};
  const float* panels = nullptr;            // (n_support / 4, d, 4)
  const std::int32_t* entry_at = nullptr;   // (n_pairs + 1,) into the two arrays below
  const std::int32_t* entry_row = nullptr;  // support point times kVoteRows
  const float* entry_coef = nullptr;
  const float* bias = nullptr;      // (n_pairs,)
  const float* unit = nullptr;      // (n_pairs,) one over what an error of a pair is measured in
  const float* products = nullptr;  // (n_support, kVoteRows) inner products, where they need not be formed
};

// What the passes write; lanes beyond the rows of the block hold nothing of use.
struct BlockVotes {
  std::int32_t winner[kVoteRows];
  std::int32_t is_sure[kVoteRows];      // whether the winner is certain: not 0
  float peak[kVoteRows];                // largest |gamma <x,s> + coef0| of the row, infinity up to kLowDegree
  AlignedVector<float> values;          // kernel values, (n_support, kVoteRows)
  AlignedVector<std::int32_t> pairs;    // pairs that a class certainly wins, and loses, (n_classes, 2, kVoteRows)
};

// An SVM packed for the passes; reused from SVM to SVM.
class PackedSvm {
 public:
  // `rows` (n, d) are the support rows that `support` points into; d is 0 where products are given with each block.
  void pack(const SvmView& svm, const PolyValues& poly, const std::int32_t* support, const double* rows,
            const float* norms, int d);
  const BlockSvm& view() const { return view_; }
  void set_products(const float* products) { view_.products = products; }
  // How far from zero a decision must be for rows of these norms, in units of its pair.
  void doubts(const float* norm, const float* peak, int count, float* out) const;

 private:
  void pack_pairs(const SvmView& svm);

  BlockSvm view_;
  AlignedVector<float> panels_, entry_coef_, bias_, unit_;
  std::vector<std::int32_t> entry_at_, entry_row_, first_;
  float slope_ = 0.0f, offset_ = 0.0f, highest_ = 0.0f;  // bound of a kernel's base: slope norm + offset
  float bias_doubt_ = 0.0f;
};

}  // namespace surewood
