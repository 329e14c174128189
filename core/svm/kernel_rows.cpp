#include "svm/kernel_rows.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace surewood {

namespace {

// Copies n numbers and up to seven beyond them, which must be there: short copies have no call and no guessed end.
void copy_in_eights(const float* from, int n, float* to) {
  for (int k = 0; k < n; k += kBeyond) std::memcpy(to + k, from + k, kBeyond * sizeof(float));
}

// Rows of that length in so many bytes, but at least two.
int rows_that_fit(int padded, std::size_t cache_bytes) {
  if (padded == 0) return 0;
  const std::size_t fit = cache_bytes / (sizeof(float) * static_cast<std::size_t>(padded));
  return static_cast<int>(std::min<std::size_t>(std::max<std::size_t>(fit, 2), INT_MAX));
}

}  // namespace

void InnerRows::set_points(const std::int32_t* rows, int n, bool keep) {
  group_ = nullptr;
  points_.assign(rows, rows + n);
  if (formed_) packed_.pack(source_.x, source_.d, rows, n);
  set_size(n, keep && n <= kKeptPoints);
  for (int k = 0; k < n; ++k) norms_[k] = source_.norms[rows[k]];
}

void InnerRows::set_pair(GroupProducts& group, const std::int32_t* rows, int first, int count, int second, int others,
                         bool keep) {
  group_ = &group;
  first_ = first;
  count_ = count;
  second_ = second;
  set_size(count + others, keep);
  for (int k = 0; k < count; ++k) norms_[k] = source_.norms[rows[first + k]];
  for (int k = 0; k < others; ++k) norms_[count + k] = source_.norms[rows[second + k]];
}

void InnerRows::set_size(int n, bool keep) {
  n_ = n;
  padded_ = padded_to_lanes(n);
  norms_.assign(padded_, 0.0f);
  keep_ = keep;
  all_ready_ = false;
  if (keep_) ready_.assign(n, 0);
  const std::size_t needed = (keep_ ? static_cast<std::size_t>(n) * padded_ : padded_) + kBeyond;
  make_room(values_, needed, square_room(expected_, kKeptPoints));
}

const float* InnerRows::row(int i) {
  float* out = values_.data() + (keep_ ? static_cast<std::size_t>(i) * padded_ : 0);
  if (keep_ && ready_[i]) return out;
  if (group_) {
    const float* products = group_->row(i < count_ ? first_ + i : second_ + i - count_);
    std::copy(products + first_, products + first_ + count_, out);
    std::copy(products + second_, products + second_ + n_ - count_, out + count_);
  } else if (!formed_) {
    source_.products(points_[i], points_.data(), n_, out);
  } else {
    const double* point = source_.x + static_cast<std::int64_t>(points_[i]) * source_.d;
    svm_routines().product_one(&point, packed_.panels(), source_.d, n_, &out);
  }
  std::fill(out + n_, out + padded_, 0.0f);
  if (keep_) ready_[i] = 1;
  return out;
}

const float* InnerRows::rows() {
  if (all_ready_) return values_.data();
  all_ready_ = true;
  if (!group_) {
    for (int i = 0; i < n_; ++i) row(i);
    return values_.data();
  }
  // Row by row, so that what is copied beyond an end is written over.
  float* out = values_.data();
  for (int i = 0; i < n_; ++i, out += padded_) {
    const float* products = group_->row(i < count_ ? first_ + i : second_ + i - count_);
    copy_in_eights(products + first_, count_, out);
    copy_in_eights(products + second_, n_ - count_, out + count_);
    for (int k = n_; k < padded_; ++k) out[k] = 0.0f;
  }
  return values_.data();
}

std::size_t KernelRows::room_for(int n, std::size_t cache_bytes) {
  const int padded = padded_to_lanes(n);
  return static_cast<std::size_t>(std::min(padded, rows_that_fit(padded, cache_bytes))) * padded;
}

void KernelRows::reset(const Kernel& kernel) {
  kernel_ = kernel;
  const int n = inner_->size(), padded = inner_->padded();
  n_ = n;
  padded_ = padded;
  capacity_ = std::min(n, rows_that_fit(padded, cache_bytes_));
  ready.assign(n, nullptr);
  stamp.assign(n, 0);
  slot_owner_.assign(capacity_, -1);
  used_ = 0;
  whole_ = false;
  set_diag();
}

void KernelRows::set_diag() {
  const int padded = inner_->padded();
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
  float* row = values_ + static_cast<std::size_t>(slot) * inner_->padded();
  kernel_.values(inner, inner_->norms(), inner_->norms()[i], inner_->padded(), row);
  slot_owner_[slot] = i;
  ready[i] = row;
  return row;
}

void KernelRows::build_all(const Kernel& kernel) {
  kernel_ = kernel;
  whole_ = true;
  const int n = inner_->size(), padded = inner_->padded();
  n_ = n;
  padded_ = padded;
  set_diag();
  const float *inner = inner_->rows(), *norms = inner_->norms();
  if (kernel_.is_rbf())
    for (int i = 0; i < n; ++i) kernel_.values(inner + i * padded, norms, norms[i], padded, values_ + i * padded);
  else
    kernel_.values(inner, nullptr, 0.0f, n * padded, values_);
}

void KernelRows::list_all() {
  ready.resize(n_);
  stamp.assign(n_, 0);
  for (int i = 0; i < n_; ++i) ready[i] = values_ + static_cast<std::size_t>(i) * padded_;
}

}  // namespace surewood
