#include "svm_dual.hpp"

#include <cmath>

#include "kernel_rows.hpp"
#include "svm_targets.hpp"

namespace surewood {

void DualSolver::start(int n, const signed char* sign, const double* box, bool warm) {
  const int padded = padded_to_lanes(n);
  if (!warm) {
    v_.assign(padded, 0.0);
    beta_.assign(padded, 0.0);
    for (int i = 0; i < n; ++i) v_[i] = sign[i];
  }
  lo_.assign(padded, 0.0);
  hi_.assign(padded, 0.0);
  up_.assign(padded, -HUGE_VAL);
  low_.assign(padded, HUGE_VAL);
  for (int i = 0; i < n; ++i) {
    (sign[i] > 0 ? hi_[i] : lo_[i]) = sign[i] * box[i];
    if (beta_[i] < hi_[i]) up_[i] = 0.0;
    if (beta_[i] > lo_[i]) low_[i] = 0.0;
  }
}

DualOutcome DualSolver::solve(KernelRows& rows, const signed char* sign, const double* box, double tol,
                              std::int64_t max_iter, bool warm) {
  const int n = rows.size();
  start(n, sign, box, warm);
  DualState state;
  state.n = n;
  state.padded = padded_to_lanes(n);
  state.v = v_.data();
  state.beta = beta_.data();
  state.lo = lo_.data();
  state.hi = hi_.data();
  state.up = up_.data();
  state.low = low_.data();
  state.diag = rows.diag();
  state.rows = &rows;
  state.stop = &stop_;
  state.tol = tol;
  state.max_iter = max_iter;
  const DualStatus status = svm_routines().run_dual(state);
  return finish(state, sign, status);
}

DualOutcome DualSolver::finish(const DualState& state, const signed char* sign, DualStatus status) const {
  DualOutcome out;
  out.status = status;
  out.iterations = state.iterations;
  out.gap = state.max_up - state.min_low;
  double free_sum = 0.0;
  std::int64_t free_count = 0;
  for (int i = 0; i < state.n; ++i) {
    out.objective += 0.5 * beta_[i] * (sign[i] + v_[i]);
    out.n_support += beta_[i] != 0.0;
    if (beta_[i] > lo_[i] && beta_[i] < hi_[i]) {
      free_sum += v_[i];
      ++free_count;
    }
  }
  // A free point lies on its margin, v_i = bias; without one every bias between the bounds is optimal.
  out.bias = free_count ? free_sum / static_cast<double>(free_count) : 0.5 * (state.max_up + state.min_low);
  return out;
}

}  // namespace surewood
