// Inner products and kernels: one value an element in any block, powers, exponentials, scaling, the row cache.
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/cpu.hpp"
#include "common/rng.hpp"
#include "svm/kernel.hpp"
#include "svm/kernel_rows.hpp"

using namespace surewood;

namespace {

std::vector<double> table(int n, int d, std::uint64_t seed) {
  Stream stream(stream_key(seed, {}));
  std::vector<double> x(static_cast<std::size_t>(n) * d);
  for (double& value : x) value = 2.0 * stream.uniform() - 1.0;
  return x;
}

float product(const double* a, const double* b, int d) {
  double sum = 0.0;
  for (int k = 0; k < d; ++k) sum += a[k] * b[k];
  return static_cast<float>(sum);
}

void test_products() {
  for (int n : {1, 7, 8, 9, 30})
    for (int d : {1, 5, 16}) {
      std::vector<double> x = table(n, d, n * 100 + d);
      PackedRows packed;
      packed.pack(x.data(), d, nullptr, n);
      std::vector<float> all(static_cast<std::size_t>(n) * n);
      inner_products(x.data(), n, d, packed, all.data(), n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) assert(all[i * n + j] == product(&x[i * d], &x[j * d], d));
      std::vector<float> norms(n);
      squared_norms(x.data(), n, d, norms.data());
      for (int i = 0; i < n; ++i) assert(norms[i] == all[i * n + i]);
    }
}

void test_kernels() {
  const float inner[8] = {-1.0f, 0.0f, 0.5f, 1.0f, 2.0f, 3.0f, -2.5f, 10.0f};
  float out[8];
  for (int degree = 0; degree <= 9; ++degree) {
    Kernel({KernelKind::poly, 0.5, 1.0}, degree, 1.0).values(inner, nullptr, 0.0f, 8, out);
    for (int k = 0; k < 8; ++k) {
      const double expected = std::pow(0.5 * inner[k] + 1.0, degree);
      assert(std::abs(out[k] - expected) <= 2e-6 * std::abs(expected));
    }
  }
  const float norms[8] = {0, 1, 2, 3, 4, 50, 1e6f, 9};
  Kernel rbf({KernelKind::rbf, 0.7, 0.0}, 1, 1.0);
  rbf.values(inner, norms, 4.0f, 8, out);
  for (int k = 0; k < 8; ++k) {
    const double distance = std::fmax(4.0 + norms[k] - 2.0 * inner[k], 0.0);
    assert(std::abs(out[k] - std::exp(-0.7 * distance)) <= 1e-6);
  }
  rbf.values(inner, norms, HUGE_VALF, 8, out);
  for (float value : out) assert(value == 0.0f);
}

void test_scale() {
  const float norms[2] = {3.0f, 100.0f};
  const std::int32_t rows[2] = {0, 1};
  const KernelSpec spec{KernelKind::poly, 1.0, 1.0};
  assert(kernel_scale(spec, 9, largest_base(spec, norms, rows, 2)) == 1.0);
  assert(kernel_scale(spec, 50, largest_base(spec, norms, rows, 2)) == 128.0);
  assert(kernel_scale({KernelKind::rbf, 1.0, 0.0}, 50, largest_base(spec, norms, rows, 2)) == 1.0);
  const float wild[8] = {HUGE_VALF, -HUGE_VALF, NAN, 1e38f, 0, 0, 0, 0};
  float out[8];
  Kernel(spec, 50, 128.0).values(wild, nullptr, 0.0f, 8, out);
  for (float value : out) assert(std::isfinite(value));
}

// The cache gives the same rows with and without the stored matrix, and with room for two rows only.
void test_rows() {
  const int n = 37, d = 4;
  std::vector<double> x = table(n, d, 5);
  std::vector<float> gram(n * n), norms(n);
  PackedRows packed;
  packed.pack(x.data(), d, nullptr, n);
  inner_products(x.data(), n, d, packed, gram.data(), n);
  squared_norms(x.data(), n, d, norms.data());
  InnerSource stored{gram.data(), x.data(), norms.data(), n, d}, formed{nullptr, x.data(), norms.data(), n, d};
  const std::int32_t points[5] = {30, 2, 17, 8, 9};
  InnerRows inner_stored(stored), inner_formed(formed);
  inner_stored.set_points(points, 5, true);
  inner_formed.set_points(points, 5, false);
  KernelRows roomy(inner_stored, 1 << 20), tight(inner_formed, 1);
  std::vector<float> wide(KernelRows::room_for(5, 1 << 20)), narrow(KernelRows::room_for(5, 1));
  assert(wide.size() == 64 && narrow.size() == 16);  // eight rows, two rows
  roomy.use_room(wide.data());
  tight.use_room(narrow.data());
  for (int degree : {1, 4}) {
    Kernel kernel({KernelKind::poly, 0.25, 1.0}, degree, 1.0);
    roomy.reset(kernel);
    tight.reset(kernel);
    for (int i : {0, 3, 0, 4, 1, 2, 3}) {
      const float* a = roomy.ready[i] ? roomy.ready[i] : roomy.build(i);
      tight.stamp[i] = ++tight.clock;
      const float* b = tight.ready[i] ? tight.ready[i] : tight.build(i);
      for (int k = 0; k < 5; ++k) assert(a[k] == b[k]);
      assert(a[i] == roomy.diag()[i]);
    }
  }
}

}  // namespace

int main() {
  const char* sets[] = {"baseline", "avx2", "avx512"};
  for (const char* set : sets) {
    if (!use_instruction_set(set)) continue;
    test_products();
    test_kernels();
    test_scale();
    test_rows();
  }
  assert(!use_instruction_set("none"));
  std::puts("kernel ok");
}
