#include "kernel_rows.hpp"

#include <algorithm>

namespace surewood {

void InnerRows::set_points(const std::int32_t* rows, int n, bool keep) {
  n_ = n;
  padded_ = padded_to_lanes(n);
  points_.assign(rows, rows + n);
  norms_.assign(padded_, 0.0f);
  for (int k = 0; k < n; ++k) norms_[k] = source_.norms[rows[k]];
  if (!source_.gram) packed_.pack(source_.x, source_.d, rows, n);
  keep_ = keep && n <= kKeptPoints;
  if (keep_) ready_.assign(n, 0);
  const std::size_t needed = keep_ ? static_cast<std::size_t>(n) * padded_ : padded_;
  if (values_.size() < needed) values_.resize(needed);
}

const float* InnerRows::row(int i) {
  float* out = values_.data() + (keep_ ? static_cast<std::size_t>(i) * padded_ : 0);
  if (keep_ && ready_[i]) return out;
  if (source_.gram) {
    source_.products(points_[i], points_.data(), n_, out);
  } else {
    const double* own = source_.x + static_cast<std::int64_t>(points_[i]) * source_.d;
    svm_routines().product_one(&own, packed_.panels(), source_.d, n_, &out);
  }
  std::fill(out + n_, out + padded_, 0.0f);
  if (keep_) ready_[i] = 1;
  return out;
}

void KernelRows::reset(const Kernel& kernel) {
  kernel_ = kernel;
  const int n = inner_->size(), padded = inner_->padded();
  const std::size_t fits = cache_bytes_ / (sizeof(float) * static_cast<std::size_t>(padded));
  capacity_ = static_cast<int>(std::min<std::size_t>(n, std::max<std::size_t>(2, fits)));
  const std::size_t needed = static_cast<std::size_t>(capacity_) * padded;
  if (values_.size() < needed) values_.resize(needed);
  ready.assign(n, nullptr);
  stamp.assign(n, 0);
  slot_owner_.assign(capacity_, -1);
  used_ = 0;
  diag_.assign(padded, 1.0f);  // rbf: every point is at distance zero from itself
  if (!kernel_.is_rbf()) kernel_.values(inner_->norms(), inner_->norms(), 0.0f, padded, diag_.data());
}

int KernelRows::free_slot() {
  if (used_ < capacity_) return used_++;
  int oldest = 0;
  for (int s = 1; s < capacity_; ++s)
    if (stamp[slot_owner_[s]] < stamp[slot_owner_[oldest]]) oldest = s;
  ready[slot_owner_[oldest]] = nullptr;
  return oldest;
}

const float* KernelRows::build(int i) {
  const float* inner = inner_->row(i);
  const int slot = free_slot();
  float* row = values_.data() + static_cast<std::size_t>(slot) * inner_->padded();
  kernel_.values(inner, inner_->norms(), inner_->norms()[i], inner_->padded(), row);
  slot_owner_[slot] = i;
  ready[i] = row;
  return row;
}

}  // namespace surewood
