// The dual of a two-class C-SVM with bias, in signed variables.
//
// With beta = y alpha and v = y - K beta the dual is: maximise y'beta - beta'K beta / 2 subject to
// sum beta = 0 and beta_i between 0 and y_i C_i. Its gradient is v: no sign ever enters the passes. The
// working set is the point with the largest v that may rise and the partner of largest second-order
// gain; the stopping rule is libsvm's, max_up v - min_low v < tol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/aligned.hpp"

namespace surewood {

class KernelRows;

enum class DualStatus : int { converged = 0, capped = 1 };

constexpr int kMostInterleaved = 8;            // problems side by side
constexpr int kSmallPoints = 64;               // problems up to here may have their whole kernel at hand
constexpr double kRounding = 1e-12;            // of the largest variable
constexpr double kTinyCurvature = 1e-12;       // in place of a curvature that is not positive
constexpr int kMostFree = 40;                  // free points that free_step takes on
constexpr int kFreeRounds = 8;                 // free steps in a row, while points meet their bounds
constexpr double kFlat = 1e-6;                 // share of its curvature that an independent point keeps
constexpr std::int64_t kPollWork = 2'000'000;  // element updates between two looks at the stop flag

// Between a long solve and its caller: whether to stop, by a check that may be slow, and how far it is.
class StopSignal {
 public:
  virtual ~StopSignal() = default;
  virtual bool requested() = 0;
  virtual void done(int /*svms*/) {}
};

enum DualArray { kV, kBeta, kLo, kHi, kCanFall, kDualArrays };  // the order of the arrays of a DualState

// What the passes see of a problem; all arrays padded to multiples of eight. Padding may not move: it is never chosen.
// Those of doubles lie one after another.
struct DualState {
  int n = 0, padded = 0;
  double *v = nullptr, *beta = nullptr, *lo = nullptr, *hi = nullptr;
  double* can_fall = nullptr;                             // v where beta may fall, else +inf
  std::uint8_t *may_rise = nullptr, *may_fall = nullptr;  // a bit a point, a byte for the points of a register
  const float* diag = nullptr;
  const float* kernel = nullptr;  // all rows, one after another; nullptr: they are built when asked for
  KernelRows* rows = nullptr;
  double tol = 1e-3;
  std::int64_t max_iter = 0, iterations = 0;
  double max_up = 0.0, min_low = 0.0;
  int where = 0;                    // the point of max_up
  std::int64_t next_free_step = 0;  // iterations before the next one
  DualStatus status = DualStatus::converged;
};

struct DualOutcome {
  DualStatus status = DualStatus::converged;
  std::int64_t iterations = 0;
  double bias = 0.0;
  double objective = 0.0;  // value of the dual that is maximised
  double gap = 0.0;        // max_up v - min_low v: libsvm's measure of optimality
  int n_support = 0;
};

// Problems on their way through a solver. Either all have their whole kernel at hand, and one padded size, or none.
class DualQueue {
 public:
  virtual ~DualQueue() = default;
  // One more problem to work on, started, or nullptr. `done`, if not nullptr, is solved: its place may be used again.
  virtual DualState* next(DualState* done) = 0;
  virtual bool stop_requested() = 0;
};

// One problem over the rows of `rows`; keeps its arrays between solves.
class DualSolver {
 public:
  // `sign` is +-1, `box` the largest |beta_i|. Keeps beta and v of the solve before when `warm` and the
  // points are the same: then only the boxes change, all by one factor, and must not shrink below |beta|.
  DualState* start(KernelRows& rows, const double* sign, const double* box, double tol, std::int64_t max_iter,
                   bool warm);
  DualOutcome outcome() const;

  const DualState* state() const { return &state_; }
  const double* beta() const { return state_.beta; }
  // K beta at the points, free of charge: y - v.
  double fitted(int i, double sign) const { return sign - state_.v[i]; }

 private:
  void grow(const double* sign, const double* box);

  DualState state_;
  AlignedVector<double> values_;
  std::vector<std::uint8_t> may_rise_, may_fall_;
};

}  // namespace surewood
