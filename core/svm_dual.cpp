#include "svm_dual.hpp"

#include <algorithm>
#include <cmath>

#include "kernel_rows.hpp"
#include "svm_targets.hpp"

namespace surewood {

namespace {
constexpr double kRounding = 1e-12;  // of the largest variable
}

void DualSolver::start(KernelRows& rows, const signed char* sign, const double* box, double tol,
                       std::int64_t max_iter, bool warm) {
  const int n = rows.size(), padded = padded_to_lanes(n);
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
  state_ = DualState{};
  state_.n = n;
  state_.padded = padded;
  state_.v = v_.data();
  state_.beta = beta_.data();
  state_.lo = lo_.data();
  state_.hi = hi_.data();
  state_.up = up_.data();
  state_.low = low_.data();
  state_.diag = rows.diag();
  state_.rows = &rows;
  state_.stop = &stop_;
  state_.tol = tol;
  state_.max_iter = max_iter;
}

void DualSolver::run(const std::vector<DualSolver*>& solvers, int together) {
  std::vector<DualState*> states;
  for (DualSolver* solver : solvers) states.push_back(&solver->state_);
  svm_routines().run_duals(states.data(), static_cast<int>(states.size()), together);
}

DualOutcome DualSolver::outcome(const signed char* sign) const {
  DualOutcome out;
  out.status = state_.status;
  out.iterations = state_.iterations;
  out.gap = state_.max_up - state_.min_low;
  double largest = 0.0;
  for (int i = 0; i < state_.n; ++i) largest = std::max(largest, std::fabs(beta_[i]));
  double free_sum = 0.0, max_up = -HUGE_VAL, min_low = HUGE_VAL;
  std::int64_t free_count = 0;
  for (int i = 0; i < state_.n; ++i) {
    out.objective += 0.5 * beta_[i] * (sign[i] + v_[i]);
    out.n_support += beta_[i] != 0.0;
    // What rounding left of a variable at its bound is not a free point.
    const double room = kRounding * std::min(largest, hi_[i] - lo_[i]);
    const bool can_rise = hi_[i] - beta_[i] > room, can_fall = beta_[i] - lo_[i] > room;
    if (can_rise) max_up = std::max(max_up, v_[i]);
    if (can_fall) min_low = std::min(min_low, v_[i]);
    if (can_rise && can_fall) {
      free_sum += v_[i];
      ++free_count;
    }
  }
  // A free point lies on its margin, v_i = bias; without one every bias between the bounds is optimal.
  if (free_count) {
    out.bias = free_sum / static_cast<double>(free_count);
  } else if (std::isfinite(max_up) && std::isfinite(min_low)) {
    out.bias = 0.5 * (max_up + min_low);
  } else {
    out.bias = 0.5 * (state_.max_up + state_.min_low);
  }
  return out;
}

}  // namespace surewood
