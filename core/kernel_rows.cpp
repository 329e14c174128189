#include "kernel_rows.hpp"

#include <algorithm>

namespace surewood {

void KernelRows::set_points(const std::int32_t* rows, int n, bool keep_inner) {
  n_ = n;
  padded_ = padded_to_lanes(n);
  rows_.assign(rows, rows + n);
  norms_.assign(padded_, 0.0f);
  for (int k = 0; k < n; ++k) norms_[k] = source_.norms[rows[k]];
  if (!source_.gram) packed_.pack(source_.x, source_.d, rows, n);
  keep_inner_ = keep_inner && n <= kInnerPoints;
  if (keep_inner_) {
    inner_ready_.assign(n, 0);
    if (inner_.size() < static_cast<std::size_t>(n) * padded_) inner_.resize(static_cast<std::size_t>(n) * padded_);
  }
  scratch_.assign(padded_, 0.0f);
  const std::size_t fits = cache_bytes_ / (sizeof(float) * static_cast<std::size_t>(padded_));
  capacity_ = static_cast<int>(std::min<std::size_t>(n, std::max<std::size_t>(2, fits)));
  const std::size_t needed = static_cast<std::size_t>(capacity_) * padded_;
  if (values_.size() < needed) values_.resize(needed);
}

void KernelRows::set_kernel(const Kernel& kernel) {
  kernel_ = kernel;
  ready.assign(n_, nullptr);
  stamp.assign(n_, 0);
  slot_owner_.assign(capacity_, -1);
  used_ = 0;
  diag_.assign(padded_, 1.0f);  // rbf: every point is at distance zero from itself
  if (!kernel_.is_rbf()) kernel_.values(norms_.data(), norms_.data(), 0.0f, padded_, diag_.data());
}

const float* KernelRows::inner_row(int i) {
  if (keep_inner_ && inner_ready_[i]) return inner_.data() + static_cast<std::size_t>(i) * padded_;
  float* row = keep_inner_ ? inner_.data() + static_cast<std::size_t>(i) * padded_ : scratch_.data();
  if (source_.gram) {
    source_.products(rows_[i], rows_.data(), n_, row);
  } else {
    const double* own = source_.x + static_cast<std::int64_t>(rows_[i]) * source_.d;
    svm_routines().product_one(&own, packed_.panels(), source_.d, n_, &row);
  }
  std::fill(row + n_, row + padded_, 0.0f);
  if (keep_inner_) inner_ready_[i] = 1;
  return row;
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
  const float* inner = inner_row(i);
  const int slot = free_slot();
  float* row = values_.data() + static_cast<std::size_t>(slot) * padded_;
  kernel_.values(inner, norms_.data(), norms_[i], padded_, row);
  slot_owner_[slot] = i;
  ready[i] = row;
  return row;
}

std::size_t KernelRows::bytes() const {
  return sizeof(float) * (values_.capacity() + inner_.capacity() + diag_.capacity() + norms_.capacity());
}

}  // namespace surewood
