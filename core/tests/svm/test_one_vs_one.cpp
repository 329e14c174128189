// The dual solver, one-vs-one SVMs and prediction: optimality, the same bits everywhere, stopping.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "common/cpu.hpp"
#include "common/rng.hpp"
#include "svm/block_predict.hpp"
#include "svm/one_vs_one.hpp"
#include "svm/predict.hpp"

using namespace surewood;

namespace {

class Never final : public StopSignal {
 public:
  bool requested() override { return false; }
};

class Always final : public StopSignal {
 public:
  bool requested() override { return true; }
};

struct Data {
  int n, d;
  std::vector<double> x;
  std::vector<float> norms;
  std::vector<std::int32_t> label, all;

  Data(int rows, int features, int classes, std::uint64_t seed)
      : n(rows), d(features), x(rows * features), norms(rows), label(rows), all(rows) {
    Stream stream(stream_key(seed, {1}));
    for (int i = 0; i < n; ++i) {
      label[i] = i % classes;
      for (int k = 0; k < d; ++k) x[i * d + k] = 2.0 * stream.uniform() - 1.0 + 0.4 * ((label[i] >> k) & 1);
    }
    squared_norms(x.data(), n, d, norms.data());
    std::iota(all.begin(), all.end(), 0);
  }
  InnerSource source() const { return {nullptr, x.data(), norms.data(), n, d}; }
};

const KernelSpec kPoly{KernelKind::poly, 0.5, 1.0};

SvmBatch solve(const Data& data, const SolveOptions& options, std::vector<std::int32_t> degree, double C = 1.0) {
  Never stop;
  OneVsOneSolver solver(data.source(), kPoly, options, stop);
  SvmBatch out;
  std::vector<double> boxes(degree.size(), C);
  const bool finished = solver.solve(data.all.data(), data.n, data.label.data(), nullptr, degree.data(), boxes.data(),
                                     static_cast<int>(degree.size()), out);
  assert(finished);
  return out;
}

bool same(const SvmBatch& a, const SvmBatch& b) {
  return a.coef == b.coef && a.bias == b.bias && a.support == b.support && a.predicted == b.predicted &&
         a.iterations == b.iterations && a.objective == b.objective;
}

// KKT of a two-class SVM from its coefficients, in double.
void check_optimal(const Data& data, const SvmBatch& batch, int degree, double C, double tol) {
  std::vector<double> beta(data.n, 0.0);
  for (std::size_t k = 0; k < batch.support.size(); ++k) beta[batch.support[k]] = batch.coef[k];
  assert(std::abs(std::accumulate(beta.begin(), beta.end(), 0.0)) < 1e-9);
  double top = -HUGE_VAL, bottom = HUGE_VAL;
  for (int i = 0; i < data.n; ++i) {
    const double sign = data.label[i] == 0 ? 1.0 : -1.0, alpha = sign * beta[i];
    assert(alpha >= 0.0 && alpha <= C);
    double v = sign;
    for (int j = 0; j < data.n; ++j) {
      double inner = 0.0;
      for (int k = 0; k < data.d; ++k) inner += data.x[i * data.d + k] * data.x[j * data.d + k];
      v -= std::pow(kPoly.gamma * inner + kPoly.coef0, degree) * beta[j];
    }
    if (sign > 0 ? alpha < C : alpha > 0) top = std::max(top, v);
    if (sign > 0 ? alpha > 0 : alpha < C) bottom = std::min(bottom, v);
  }
  assert(top - bottom < tol + 1e-3);
}

void test_optimal() {
  for (int n : {2, 9, 40, 300}) {
    Data data(n, 3, 2, n);
    for (int degree : {1, 3}) {
      SvmBatch batch = solve(data, {}, {degree});
      assert(batch.status[0] == static_cast<int>(DualStatus::converged));
      check_optimal(data, batch, degree, 1.0, 1e-3);
    }
  }
}

void test_same_bits() {
  Data data(70, 4, 3, 3);
  const std::vector<std::int32_t> degrees = {1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9};
  use_instruction_set("baseline");
  const SvmBatch expected = solve(data, {}, degrees);
  SolveOptions tight;
  tight.cache_bytes = 1;
  for (const char* set : {"baseline", "avx2", "avx512"}) {
    if (!use_instruction_set(set)) continue;
    assert(same(solve(data, {}, degrees), expected));
    assert(same(solve(data, tight, degrees), expected));
  }
  SvmBatch joined;  // one by one instead of side by side
  for (std::int32_t degree : degrees) {
    SvmBatch one = solve(data, {}, {degree});
    joined.coef.insert(joined.coef.end(), one.coef.begin(), one.coef.end());
  }
  assert(joined.coef == expected.coef);
}

void test_cap_and_stop() {
  Data data(60, 3, 2, 8);
  SolveOptions options;
  options.max_iter = 3;
  SvmBatch batch = solve(data, options, {2});
  assert(batch.status[0] == static_cast<int>(DualStatus::capped) && batch.iterations[0] == 3);
  Always stop;
  OneVsOneSolver solver(data.source(), kPoly, {}, stop);
  SvmBatch out;
  const std::int32_t degree = 1;
  const double C = 1.0;
  assert(!solver.solve(data.all.data(), data.n, data.label.data(), nullptr, &degree, &C, 1, out));
}

// Prediction at the training points gives the training predictions.
void test_prediction() {
  Data data(90, 3, 4, 12);
  SvmBatch batch = solve(data, {}, {2});
  const std::int32_t degree = 2;
  const std::int64_t class_at[2] = {0, 4}, pair_at[2] = {0, 6};
  const std::int64_t support_at[2] = {0, batch.n_support[0]}, coef_at[2] = {0, 3 * batch.n_support[0]};
  SvmTable svms;
  svms.n_svms = 1;
  svms.degree = &degree;
  svms.n_classes = batch.n_classes.data();
  svms.n_support = batch.n_support.data();
  svms.scale = batch.scale.data();
  svms.class_at = class_at;
  svms.pair_at = pair_at;
  svms.support_at = support_at;
  svms.coef_at = coef_at;
  svms.classes = batch.classes.data();
  svms.class_support = batch.class_support.data();
  svms.bias = batch.bias.data();
  svms.support = batch.support.data();  // rows of x: the support rows here are all the rows
  svms.coef = batch.coef.data();
  svms.rows = data.x.data();
  svms.norms = data.norms.data();
  svms.n_rows = data.n;
  svms.d = data.d;
  std::vector<std::int32_t> assign(2 * data.n, 0), codes(2 * data.n);
  for (int i = 0; i < data.n; ++i) assign[2 * i + 1] = -1;
  std::vector<double> share(4 * data.n, 0.0);
  PredictionTarget target;
  target.codes = codes.data();
  target.vote_fractions = share.data();
  target.total_classes = 4;
  Never stop;
  assert(predict_rows(data.x.data(), data.n, kPoly, svms, {}, assign.data(), 2, stop, target));
  for (int i = 0; i < data.n; ++i) {
    assert(codes[2 * i] == batch.predicted[i]);
    assert(codes[2 * i + 1] == -1);
    assert(std::abs(std::accumulate(&share[4 * i], &share[4 * i] + 4, 0.0) - 1.0) < 1e-12);
  }
  // The same codes in blocks, on every instruction set, with stored products and without; constants pass through.
  std::vector<float> products(static_cast<std::size_t>(data.n) * data.n);
  inner_products_into(data.x.data(), 0, data.n, data.d, data.x.data(), data.n, products.data());
  std::vector<std::int32_t> every(data.n);
  std::iota(every.begin(), every.end(), 0);
  const char* in_use = instruction_set_name();
  for (int i = 0; i < data.n; ++i) assign[2 * i + 1] = i % 2 ? -2 - 3 : 0;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (!use_instruction_set(name)) continue;
    std::vector<std::int32_t> found(2 * data.n);
    for (const StoredProducts& stored :
         {StoredProducts{}, StoredProducts{products.data(), data.n, every.data(), every.data()}}) {
      std::fill(found.begin(), found.end(), -9);
      assert(predict_by_svm(data.x.data(), data.n, kPoly, svms, stored, assign.data(), 2, stop, found.data()));
      for (int i = 0; i < data.n; ++i)
        assert(found[2 * i] == codes[2 * i] && found[2 * i + 1] == (i % 2 ? 3 : codes[2 * i]));
    }
  }
  use_instruction_set(in_use);
}

void test_one_class() {
  Data data(5, 2, 1, 0);
  SvmBatch batch = solve(data, {}, {1, 2});
  assert(batch.n_classes[0] == 1 && batch.n_correct[1] == 5 && batch.support.empty() && batch.bias.empty());
}

}  // namespace

int main() {
  test_optimal();
  test_same_bits();
  test_cap_and_stop();
  test_prediction();
  test_one_class();
  std::puts("svm ok");
}
