#include "svm/dual.hpp"

#include <algorithm>
#include <cmath>

#include "svm/kernel_rows.hpp"
#include "svm/targets.hpp"

namespace surewood {

DualState* DualSolver::start(KernelRows& rows, const double* sign, const double* box, double tol, std::int64_t max_iter,
                             bool warm) {
  const int n = rows.size(), padded = padded_to_lanes(n);
  if (warm && n > 0) grow(sign, box);
  const std::size_t needed = kDualArrays * static_cast<std::size_t>(padded);
  if (values_.size() < needed) values_.resize(needed);
  state_.n = n;
  state_.padded = padded;
  double* next = values_.data();
  for (auto array : {&DualState::v, &DualState::beta, &DualState::lo, &DualState::hi, &DualState::can_fall}) {
    state_.*array = next;
    next += padded;
  }
  if (!warm) {
    std::copy(sign, sign + n, state_.v);
    std::fill_n(state_.beta, n, 0.0);
  }
  double *const lo = state_.lo, *const hi = state_.hi;
  for (int i = 0; i < n; ++i) {
    const double end = sign[i] * box[i];
    lo[i] = end < 0.0 ? end : 0.0;
    hi[i] = end > 0.0 ? end : 0.0;
  }
  for (int i = n; i < padded; ++i) state_.v[i] = state_.beta[i] = lo[i] = hi[i] = 0.0;  // may not move: never chosen
  may_rise_.resize(padded);
  may_fall_.resize(padded);
  state_.may_rise = may_rise_.data();
  state_.may_fall = may_fall_.data();
  state_.diag = rows.diag();
  state_.kernel = rows.whole();
  state_.rows = &rows;
  state_.tol = tol;
  state_.max_iter = max_iter;
  state_.iterations = 0;
  state_.next_free_step = 32 + 4 * static_cast<std::int64_t>(n);  // pays only where iterations are many
  return &state_;
}

// Lets beta grow with the boxes if that is a better start than beta as it is: points at their bounds stay there, which
// is what a noisy problem wants. A problem without bounded points keeps beta.
void DualSolver::grow(const double* sign, const double* box) {
  double *const v = state_.v, *const beta = state_.beta, *const lo = state_.lo, *const hi = state_.hi;
  const double ratio = box[0] / (sign[0] > 0 ? hi[0] : -lo[0]);
  if (!(ratio > 1.0 && ratio < HUGE_VAL)) return;
  double kept = 0.0, grown = 0.0;
  for (int i = 0; i < state_.n; ++i) {
    kept += beta[i] * (sign[i] + v[i]);
    grown += ratio * beta[i] * (sign[i] + (sign[i] - ratio * (sign[i] - v[i])));
  }
  if (!(grown > kept)) return;
  for (int i = 0; i < state_.n; ++i) {
    const bool at_bound = beta[i] == (sign[i] > 0 ? hi[i] : lo[i]) || ratio * std::fabs(beta[i]) >= box[i];
    beta[i] = at_bound ? sign[i] * box[i] : ratio * beta[i];
    v[i] = sign[i] - ratio * (sign[i] - v[i]);
  }
}

DualOutcome DualSolver::outcome() const {
  DualOutcome out;
  out.status = state_.status;
  out.iterations = state_.iterations;
  out.gap = state_.max_up - state_.min_low;
  svm_routines().measure_dual(state_, out);
  return out;
}

}  // namespace surewood
