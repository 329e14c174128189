#include "svm/group_products.hpp"

#include <algorithm>

namespace surewood {

GroupProducts::GroupProducts(const InnerSource& source) : source_(source), formed_(source.quicker_formed()) {}

void GroupProducts::set_points(const std::int32_t* rows, int m) {
  rows_ = rows;
  m_ = m;
  ready_.assign(m, 0);
  make_room(values_, static_cast<std::size_t>(m) * m + kBeyond, square_room(expected_, kMostPoints));
  if (formed_) packed_.pack(source_.x, source_.d, rows, m);
}

void GroupProducts::form(int i, int count) {
  const double* four[4];
  float* out[4];
  for (int r = 0; r < count; ++r) {
    four[r] = source_.x + static_cast<std::int64_t>(rows_[i + r]) * source_.d;
    out[r] = values_.data() + static_cast<std::size_t>(i + r) * m_;
  }
  const SvmRoutines& run = svm_routines();
  (count == 4 ? run.product_four : run.product_one)(four, packed_.panels(), source_.d, m_, out);
}

const float* GroupProducts::row(int i) {
  float* values = values_.data() + static_cast<std::size_t>(i) * m_;
  if (ready_[i]) return values;
  // Four at a time cost little more than two, and neighbours are asked for next.
  const int first = i & ~3;
  if (formed_ && first + 4 <= m_) {
    form(first, 4);
    std::fill_n(ready_.begin() + first, 4, 1);
    return values;
  }
  if (formed_)
    form(i, 1);
  else
    source_.products(rows_[i], rows_, m_, values);
  ready_[i] = 1;
  return values;
}

void GroupProducts::make_all() {
  ready_.assign(m_, 1);
  int i = 0;
  if (formed_) {
    for (; i + 4 <= m_; i += 4) form(i, 4);
    for (; i < m_; ++i) form(i, 1);
    return;
  }
  // The matrix is symmetric to the bit: half of it is read.
  for (; i < m_; ++i) {
    const float* row = source_.gram + rows_[i] * source_.n;
    float *values = values_.data() + static_cast<std::size_t>(i) * m_, *column = values_.data() + i;
    for (int k = i; k < m_; ++k) values[k] = column[static_cast<std::size_t>(k) * m_] = row[rows_[k]];
  }
}

}  // namespace surewood
