#include "svm/vote_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surewood {

void PackedSvm::pack(const SvmView& svm, const PolyValues& poly, const std::int32_t* support, const double* rows,
                     const float* norms, int d) {
  const int panels = (svm.n_support + kVoteSupport - 1) / kVoteSupport;
  panels_.assign(static_cast<std::size_t>(panels) * kVoteSupport * d, 0.0f);
  double longest = 0.0;
  for (int s = 0; s < svm.n_support; ++s) {
    const double* row = rows + static_cast<std::int64_t>(support[s]) * d;
    float* panel = panels_.data() + static_cast<std::int64_t>(s / kVoteSupport) * kVoteSupport * d + s % kVoteSupport;
    for (int k = 0; k < d; ++k) panel[static_cast<std::int64_t>(k) * kVoteSupport] = static_cast<float>(row[k]);
    longest = std::max(longest, static_cast<double>(norms[support[s]]));
  }
  view_ = {d, panels * kVoteSupport, svm.n_classes, poly, panels_.data()};
  slope_ = static_cast<float>(1.001 * std::abs(static_cast<double>(poly.gamma)) * std::sqrt(longest));
  offset_ = std::abs(poly.coef0);
  highest_ = 0.99f * poly.limit;
  pack_pairs(svm);
}

void PackedSvm::pack_pairs(const SvmView& svm) {
  const int classes = svm.n_classes, width = classes - 1;
  entry_at_.assign(1, 0);
  entry_row_.clear();
  entry_coef_.clear();
  unit_.clear();
  bias_.assign(svm.bias, svm.bias + svm.n_pairs());
  first_.assign(1, 0);
  for (int a = 0; a < classes; ++a) first_.push_back(first_.back() + svm.class_support[a]);
  bias_doubt_ = 0.0f;
  for (int a = 0; a < classes; ++a)
    for (int b = a + 1; b < classes; ++b) {
      double mass = 0.0;
      auto add = [&](int c, int column) {
        for (int s = first_[c]; s < first_[c + 1]; ++s) {
          const double coef = svm.coef[static_cast<std::int64_t>(s) * width + column];
          if (coef == 0.0) continue;
          entry_row_.push_back(s * kVoteRows);
          entry_coef_.push_back(static_cast<float>(coef));
          mass += std::abs(coef);
        }
      };
      add(a, b - 1);
      add(b, a);
      const int count = static_cast<int>(entry_row_.size()) - entry_at_.back();
      entry_at_.push_back(static_cast<std::int32_t>(entry_row_.size()));
      // With u = 2^-24, |gamma| |x| |s| + |coef0| <= B and |gamma <x,s> + coef0| <= P: a base differs from that of the
      // other evaluation by at most (d + 7) u B, its power by degree (d + 9) u B P^(degree - 1), a sum of n terms by
      // (n + 4) u more of their absolute sum. In units of twice that, for what such a count leaves out, a decision
      // must exceed B P^(degree - 1).
      const double terms = static_cast<double>(view_.poly.degree) * (view_.d + 9) + count + 4;
      const double error = std::exp2(-23) * terms * mass + 1e-30;
      unit_.push_back(static_cast<float>(1.0 / error));
      const float bias = std::abs(bias_[unit_.size() - 1]);
      bias_doubt_ = std::max(bias_doubt_, static_cast<float>(std::exp2(-21) * bias / error));
    }
  view_.entry_at = entry_at_.data();
  view_.entry_row = entry_row_.data();
  view_.entry_coef = entry_coef_.data();
  view_.bias = bias_.data();
  view_.unit = unit_.data();
}

void PackedSvm::doubts(const float* norm, const float* peak, int count, float* out) const {
  const float slack = std::exp2(-22.0f) * static_cast<float>(view_.d + 9);
  for (int l = 0; l < count; ++l) {
    const float base = slope_ * norm[l] + offset_;
    const float reached = std::min(peak[l] + slack * base, base);  // what the other evaluation may have seen
    float power = base;
    for (int e = 1; e < view_.poly.degree; ++e) power *= reached;
    out[l] = base <= highest_ ? 1.001f * (power + bias_doubt_) : std::numeric_limits<float>::infinity();
  }
}

}  // namespace surewood
