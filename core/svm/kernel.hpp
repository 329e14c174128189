// Inner products and the kernels that are elementwise functions of them.
//
// Contracts: X is float64, C-contiguous, (n, d), finite. Inner products are summed in double over the
// features in their order and rounded once to float32; an element therefore has one value, whichever
// function below forms it. The stored matrix (`gram`, float32, (n, n)) may be absent.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "svm/targets.hpp"

namespace surewood {

constexpr int padded_to_lanes(int n) { return (n + 7) & ~7; }

// Rows of X, transposed in panels of eight so that one row times all of them is a stream of vectors.
class PackedRows {
 public:
  void pack(const double* x, int d, const std::int32_t* rows, int n);  // rows == nullptr: the first n
  const double* panels() const { return panels_.data(); }
  int size() const { return n_; }

 private:
  std::vector<double> panels_;
  int n_ = 0;
};

// out[r * stride + c] = <x_r, packed_c> for `count` consecutive rows of x.
void inner_products(const double* x, int count, int d, const PackedRows& packed, float* out, std::int64_t stride);

// Rows first ... last - 1 of the products of x (d columns) with the n rows of `other`, float32, into rows of `out` (n
// long).
void inner_products_into(const double* x, std::int64_t first, std::int64_t last, int d, const double* other,
                         std::int64_t n, float* out);

// <a, b>, one of them.
float inner_product(const double* a, const double* b, int d);

// out[k] = <point, x_at[k]>
void inner_products_at(const double* point, const double* x, int d, const std::int32_t* at, int n, float* out);

// <x_i, x_i>, rounded like every other product.
void squared_norms(const double* x, std::int64_t n, int d, float* out);

// Whether products among some of n rows of d numbers are formed sooner than found in the stored matrix of all.
bool formed_sooner(std::int64_t n, int d);

// Where inner products come from: the stored matrix when there is one, else the rows themselves.
struct InnerSource {
  const float* gram = nullptr;   // (n, n) or nullptr
  const double* x = nullptr;     // (n, d)
  const float* norms = nullptr;  // (n,)
  std::int64_t n = 0;
  int d = 0;
  // out[k] = <x_row, x_at[k]>
  void products(std::int32_t row, const std::int32_t* at, int n_at, float* out) const;
  // Whether rows of products among some points are formed sooner than found: the points lie anywhere in a matrix that
  // may be larger than the caches. The numbers are the same to the bit.
  bool quicker_formed() const;
};

constexpr int kMaxDegree = 100;  // of the polynomial kernel

enum class KernelKind : int { poly = 0, rbf = 1 };

struct KernelSpec {
  KernelKind kind = KernelKind::poly;
  double gamma = 1.0;
  double coef0 = 0.0;
};

// The kernel of one degree over one set of points, divided by scale^degree.
//
// scale is 1 unless the largest kernel value would pass 2^100; then it is the power of two at or above
// the largest |gamma s + coef0|, and the values lie in [-1, 1]. Dividing the kernel by a constant and
// multiplying C by it leaves every decision value unchanged, so nothing but the coefficients' unit moves.
class Kernel {
 public:
  Kernel() = default;
  // `largest` bounds |gamma s + coef0| over the points the kernel is for; HUGE_VAL: any point may come.
  Kernel(const KernelSpec& spec, int degree, double scale, double largest = HUGE_VAL);
  // `norms` (padded like `inner`) is read for rbf only.
  void values(const float* inner, const float* norms, float row_norm, int padded, float* out) const;
  double scale() const { return scale_; }
  bool is_rbf() const { return spec_.kind == KernelKind::rbf; }
  const PolyValues& poly() const { return poly_; }
  double factor() const { return factor_; }  // scale^degree, at most 1e150

 private:
  KernelSpec spec_;
  PolyValues poly_{};
  double scale_ = 1.0, factor_ = 1.0;
};

// The largest |gamma s + coef0| that points with these squared norms can have.
double largest_base(const KernelSpec& spec, const float* norms, const std::int32_t* rows, int n);
// The scale for such points, see `Kernel`.
double kernel_scale(const KernelSpec& spec, int degree, double largest);

}  // namespace surewood
