#include "svm/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace surewood {

void PackedRows::pack(const double* x, int d, const std::int32_t* rows, int n) {
  n_ = n;
  const int padded = padded_to_lanes(n);
  panels_.assign(static_cast<std::size_t>(padded) * d, 0.0);
  for (int c = 0; c < n; ++c) {
    const double* row = x + static_cast<std::int64_t>(rows ? rows[c] : c) * d;
    double* panel = panels_.data() + static_cast<std::int64_t>(c & ~7) * d + (c & 7);
    for (int k = 0; k < d; ++k) panel[8 * static_cast<std::int64_t>(k)] = row[k];
  }
}

void inner_products(const double* x, int count, int d, const PackedRows& packed, float* out, std::int64_t stride) {
  const SvmRoutines& run = svm_routines();
  int r = 0;
  for (; r + 4 <= count; r += 4) {
    const double* rows[4];
    float* targets[4];
    for (int q = 0; q < 4; ++q) {
      rows[q] = x + static_cast<std::int64_t>(r + q) * d;
      targets[q] = out + (r + q) * stride;
    }
    run.product_four(rows, packed.panels(), d, packed.size(), targets);
  }
  for (; r < count; ++r) {
    const double* row = x + static_cast<std::int64_t>(r) * d;
    float* target = out + r * stride;
    run.product_one(&row, packed.panels(), d, packed.size(), &target);
  }
}

void inner_products_into(const double* x, std::int64_t first, std::int64_t last, int d, const double* other,
                         std::int64_t n, float* out) {
  // Panels of a few hundred columns stay in the cache while all the rows pass by.
  constexpr std::int64_t kColumns = 256;
  PackedRows packed;
  for (std::int64_t c = 0; c < n; c += kColumns) {
    packed.pack(other + c * d, d, nullptr, static_cast<int>(std::min(kColumns, n - c)));
    inner_products(x + first * d, static_cast<int>(last - first), d, packed, out + first * n + c, n);
  }
}

float inner_product(const double* a, const double* b, int d) {
  double sum = 0.0;
  for (int k = 0; k < d; ++k) sum = sum + a[k] * b[k];
  return static_cast<float>(sum);
}

void inner_products_at(const double* point, const double* x, int d, const std::int32_t* at, int n, float* out) {
  constexpr int kTogether = 8;  // sums that wait for each other's additions
  int k = 0;
  for (; k + kTogether <= n; k += kTogether) {
    const double* row[kTogether];
    double sum[kTogether] = {};
    for (int q = 0; q < kTogether; ++q) row[q] = x + static_cast<std::int64_t>(at[k + q]) * d;
    for (int f = 0; f < d; ++f)
      for (int q = 0; q < kTogether; ++q) sum[q] = sum[q] + point[f] * row[q][f];
    for (int q = 0; q < kTogether; ++q) out[k + q] = static_cast<float>(sum[q]);
  }
  for (; k < n; ++k) out[k] = inner_product(point, x + static_cast<std::int64_t>(at[k]) * d, d);
}

void squared_norms(const double* x, std::int64_t n, int d, float* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = inner_product(x + i * d, x + i * d, d);
}

void InnerSource::products(std::int32_t row, const std::int32_t* at, int n_at, float* out) const {
  if (gram) {
    svm_routines().gather_row(gram + row * n, at, n_at, out);
    return;
  }
  inner_products_at(x + static_cast<std::int64_t>(row) * d, x, d, at, n_at, out);
}

bool formed_sooner(std::int64_t n, int d) {
  // Nanoseconds an element, as measured: of a product and feature, out of a matrix in the cache, and beyond it.
  constexpr double kFormed = 0.07, kNear = 0.8, kFar = 4.0;
  constexpr std::int64_t kCached = std::int64_t{8} << 20;
  const bool near = n * n * static_cast<std::int64_t>(sizeof(float)) <= kCached;
  return kFormed * d < (near ? kNear : kFar);
}

bool InnerSource::quicker_formed() const { return !gram || formed_sooner(n, d); }

Kernel::Kernel(const KernelSpec& spec, int degree, double scale, double largest) : spec_(spec), scale_(scale) {
  // A clamp so far out that only prediction on wild points meets it: powers stay below 2^120, sums finite.
  const double limit = degree > 0 ? std::exp2(std::floor(120.0 / degree)) : 1.0;
  poly_ = {static_cast<float>(spec.gamma / scale), static_cast<float>(spec.coef0 / scale),
           largest / scale < 0.999 * limit ? HUGE_VALF : static_cast<float>(limit), degree};
  factor_ = std::min(std::pow(scale, degree), 1e150);
}

void Kernel::values(const float* inner, const float* norms, float row_norm, int padded, float* out) const {
  const SvmRoutines& run = svm_routines();
  if (spec_.kind == KernelKind::rbf && !std::isfinite(row_norm))
    std::fill(out, out + padded, 0.0f);  // infinitely far from every point
  else if (spec_.kind == KernelKind::rbf)
    run.rbf_row(inner, norms, row_norm, padded, static_cast<float>(spec_.gamma), out);
  else
    run.poly_row(inner, padded, poly_, out);
}

double largest_base(const KernelSpec& spec, const float* norms, const std::int32_t* rows, int n) {
  // |<x, x'>| is at most the largest squared norm.
  double largest = 0.0;
  for (int k = 0; k < n; ++k) largest = std::max(largest, static_cast<double>(norms[rows[k]]));
  return std::abs(spec.gamma) * largest + std::abs(spec.coef0);
}

double kernel_scale(const KernelSpec& spec, int degree, double largest) {
  if (spec.kind == KernelKind::rbf || largest <= 1.0 || degree * std::log2(largest) <= 100.0) return 1.0;
  return std::exp2(std::ceil(std::log2(largest)));
}

}  // namespace surewood
