// The inner loop of the dual solver: two fused passes over the points an iteration.
//
// Included inside a namespace once per instruction set, after lanes.inl (see svm_targets.cpp). The
// arrays of a `DualState` are padded to multiples of eight; padding lanes are closed at both bounds
// (up = -inf, low = +inf), so they are never chosen.

struct Extremes {
  double max_up, min_low;
  int where;
};

SUREWOOD_INLINE Extremes reduce(F64 best, I64 where, F64 low) {
  F64 top = max_of(best);
  I64 first = min_of(choose(best == top, where, splat<I64>(static_cast<long long>(1) << 40)));
  F64 bottom = min_of(low);
  return {top[0], bottom[0], static_cast<int>(first[0])};
}

// v -= step (K_i - K_j), and in the same pass the largest v that may rise and the smallest that may fall.
SUREWOOD_INLINE Extremes update_pass(DualState& s, double step, const float* ki, const float* kj) {
  const F64 steps = splat<F64>(step);
  F64 best = splat<F64>(-HUGE_VAL), low = splat<F64>(HUGE_VAL);
  I64 where = splat<I64>(0LL), at = count64();
  const I64 eight = splat<I64>(8LL);
  for (int k = 0; k < s.padded; k += 8) {
    F64 v = load<F64>(s.v + k) - steps * (widen(load<F32>(ki + k)) - widen(load<F32>(kj + k)));
    store(s.v + k, v);
    F64 up = v + load<F64>(s.up + k);
    auto rises = up > best;
    best = choose(rises, up, best);
    where = choose(rises, at, where);
    low = smaller(v + load<F64>(s.low + k), low);
    at = at + eight;
  }
  return reduce(best, where, low);
}

SUREWOOD_INLINE Extremes first_pass(const DualState& s) {
  F64 best = splat<F64>(-HUGE_VAL), low = splat<F64>(HUGE_VAL);
  I64 where = splat<I64>(0LL), at = count64();
  for (int k = 0; k < s.padded; k += 8) {
    F64 v = load<F64>(s.v + k);
    F64 up = v + load<F64>(s.up + k);
    auto rises = up > best;
    best = choose(rises, up, best);
    where = choose(rises, at, where);
    low = smaller(v + load<F64>(s.low + k), low);
    at = at + splat<I64>(8LL);
  }
  return reduce(best, where, low);
}

// The partner of i that promises the largest gain (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij). Single
// precision is enough to rank; the step itself is taken in double.
SUREWOOD_INLINE int partner_pass(const DualState& s, double vi, float diag_i, const float* ki) {
  const F64 top = splat<F64>(vi);
  const F32 own = splat<F32>(diag_i), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  F32 best = never;
  I32 where = splat<I32>(0), at = count32();
  for (int k = 0; k < s.padded; k += 8) {
    F32 gap = narrow(top - (load<F64>(s.v + k) + load<F64>(s.low + k)));
    F32 curvature = larger((own + load<F32>(s.diag + k)) - two * load<F32>(ki + k), tiny);
    F32 gain = choose(gap > zero, gap * gap / curvature, never);
    auto better = gain > best;
    best = choose(better, gain, best);
    where = choose(better, at, where);
    at = at + splat<I32>(8);
  }
  F32 top_gain = max_of(best);
  I32 first = min_of(choose(best == top_gain, where, splat<I32>(1 << 30)));
  return top_gain[0] > 0.0f ? first[0] : -1;
}

SUREWOOD_INLINE const float* row_of(DualState& s, int i) {
  const float* row = s.rows->ready[i];
  s.rows->stamp[i] = s.rows->clock;
  return row ? row : s.rows->build(i);
}

// Moves beta_i up and beta_j down by the same step and refreshes which of the two may still move.
SUREWOOD_INLINE double take_step(DualState& s, int i, int j, const float* ki) {
  double curvature = static_cast<double>(s.diag[i]) + s.diag[j] - 2.0 * ki[j];
  if (!(curvature > 0.0)) curvature = kTinyCurvature;
  const double room_i = s.hi[i] - s.beta[i], room_j = s.beta[j] - s.lo[j];
  double step = (s.v[i] - s.v[j]) / curvature;
  step = step < room_i ? step : room_i;
  step = step < room_j ? step : room_j;
  s.beta[i] = step == room_i ? s.hi[i] : s.beta[i] + step;
  s.beta[j] = step == room_j ? s.lo[j] : s.beta[j] - step;
  s.up[i] = s.beta[i] < s.hi[i] ? 0.0 : -HUGE_VAL;
  s.low[i] = s.beta[i] > s.lo[i] ? 0.0 : HUGE_VAL;
  s.up[j] = s.beta[j] < s.hi[j] ? 0.0 : -HUGE_VAL;
  s.low[j] = s.beta[j] > s.lo[j] ? 0.0 : HUGE_VAL;
  return step;
}

// Runs until the stopping rule, the cap, or a request to stop.
static DualStatus run_dual(DualState& s) {
  Extremes e = first_pass(s);
  std::int64_t until_poll = kPollWork / (s.padded + 1);
  DualStatus status = DualStatus::converged;
  while (e.max_up - e.min_low >= s.tol) {
    if (s.iterations >= s.max_iter) {
      status = DualStatus::capped;
      break;
    }
    if (--until_poll < 0) {
      if (s.stop->requested()) {
        status = DualStatus::stopped;
        break;
      }
      until_poll = kPollWork / (s.padded + 1);
    }
    ++s.iterations;
    ++s.rows->clock;
    const int i = e.where;
    const float* ki = row_of(s, i);
    const int j = partner_pass(s, s.v[i], s.diag[i], ki);
    if (j < 0) break;
    const float* kj = row_of(s, j);
    const double step = take_step(s, i, j, ki);
    e = update_pass(s, step, ki, kj);
  }
  s.max_up = e.max_up;
  s.min_low = e.min_low;
  return status;
}
