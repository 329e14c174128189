// The inner loop of the dual solver: two fused passes over the points an iteration.
//
// Included inside a namespace once per instruction set, after svm/lanes.inl (see svm/targets.cpp). The
// arrays of a `DualState` are padded to multiples of eight; padding may move neither way, so it is never chosen.

struct Extremes {
  double max_up, min_low;
  int where;
};

// The largest value seen in each lane and where it was; two chains, so that one compares while the other waits.
template <typename Values, typename Places>
struct Best {
  Values value[2];
  Places where[2];

  SUREWOOD_INLINE void see(int chain, Values candidate, Places at) {
    keep_larger(value[chain], where[chain], candidate, at);
  }
  SUREWOOD_INLINE auto top() const { return max_lane(larger(value[0], value[1])); }
  // The lowest place of the largest value.
  template <typename Number>
  SUREWOOD_INLINE int first(Number largest) const {
    const Values top = splat<Values>(largest);
    unsigned tied = equal_bits(value[0], top) | equal_bits(value[1], top) << SUREWOOD_LANES;
    int found = place(tied);
    while (tied &= tied - 1) found = found < place(tied) ? found : place(tied);
    return found;
  }

 private:
  SUREWOOD_INLINE int place(unsigned tied) const {
    const int lane = lowest_bit(tied);
    return static_cast<int>(where[lane >= SUREWOOD_LANES][lane % SUREWOOD_LANES]);
  }
};

// Looks for the largest v that may rise and the smallest that may fall; before that v -= step (K_i - K_j).
template <bool Update>
SUREWOOD_INLINE Extremes search_pass(DualState& s, double step, const float* ki, const float* kj) {
  const F64 steps = splat<F64>(step), none = splat<F64>(-HUGE_VAL);
  Best<F64, Places> best = {{none, none}, {splat<Places>(Place{0}), splat<Places>(Place{0})}};
  F64 low = splat<F64>(HUGE_VAL);
  Places at = counting<Places, Place>();
  double *const all_v = s.v, *const all_falls = s.can_fall;  // the compiler cannot know that storing leaves them alone
  const std::uint8_t *const may_rise = s.may_rise, *const may_fall = s.may_fall;
  const int padded = s.padded;
  const auto see = [&](int k, int chain) SUREWOOD_INLINE_LAMBDA {
    F64 v = load<F64>(all_v + k);
    if constexpr (Update) {
      v = v - steps * (widen(load<F32>(ki + k)) - widen(load<F32>(kj + k)));
      store(all_v + k, v);
    }
    const F64 falls = can_fall(v, may_fall[k / SUREWOOD_LANES]);
    store(all_falls + k, falls);
    best.see(chain, can_rise(v, may_rise[k / SUREWOOD_LANES]), at);
    low = smaller(falls, low);
    at = at + splat<Places>(Place{SUREWOOD_LANES});
  };
  int k = 0;
  for (; k + SUREWOOD_LANES < padded; k += 2 * SUREWOOD_LANES) {
    see(k, 0);
    see(k + SUREWOOD_LANES, 1);
  }
  if (k < padded) see(k, 0);
  const double top = best.top();
  return {top, min_lane(low), best.first(top)};
}

SUREWOOD_INLINE Extremes update_pass(DualState& s, double step, const float* ki, const float* kj) {
  return search_pass<true>(s, step, ki, kj);
}

SUREWOOD_INLINE Extremes first_pass(DualState& s) { return search_pass<false>(s, 0.0, nullptr, nullptr); }

// The partner of i that promises the largest gain (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij). Single
// precision is enough to rank; the step itself is taken in double.
SUREWOOD_INLINE int partner_pass(const DualState& s, double vi, float diag_i, const float* ki) {
  const F64 top = splat<F64>(vi);
  const F32 own = splat<F32>(diag_i), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  Best<F32, I32> best = {{never, never}, {splat<I32>(0), splat<I32>(0)}};
  I32 at = counting<I32, int>();
  const int padded = s.padded;
  const double* const all_falls = s.can_fall;
  const auto see = [&](int k, int chain) SUREWOOD_INLINE_LAMBDA {
    const F32 gap = narrow(top - load<F64>(all_falls + k));
    const F32 curvature = larger((own + load<F32>(s.diag + k)) - two * load<F32>(ki + k), tiny);
    best.see(chain, choose(gap > zero, gap * gap / curvature, never), at);
    at = at + splat<I32>(SUREWOOD_LANES);
  };
  int k = 0;
  for (; k + SUREWOOD_LANES < padded; k += 2 * SUREWOOD_LANES) {
    see(k, 0);
    see(k + SUREWOOD_LANES, 1);
  }
  if (k < padded) see(k, 0);
  return best.first(best.top());
}

SUREWOOD_INLINE const float* row_of(DualState& s, int i) {
  const float* row = s.rows->ready[i];
  s.rows->stamp[i] = s.rows->clock;
  return row ? row : s.rows->build(i);
}

// Which way every beta may move.
static void open_points(DualState& s) {
  for (int k = 0; k < s.padded; k += SUREWOOD_LANES) {
    const F64 beta = load<F64>(s.beta + k);
    s.may_rise[k / SUREWOOD_LANES] = static_cast<std::uint8_t>(less_bits(beta, load<F64>(s.hi + k)));
    s.may_fall[k / SUREWOOD_LANES] = static_cast<std::uint8_t>(less_bits(load<F64>(s.lo + k), beta));
  }
}

SUREWOOD_INLINE void set_bit(std::uint8_t* bits, int i, unsigned value) {
  std::uint8_t& own = bits[i / SUREWOOD_LANES];
  const int lane = i % SUREWOOD_LANES;
  own = static_cast<std::uint8_t>((own & ~(1u << lane)) | value << lane);
}

// A step of the points i and j, and a bit for each of the two that may still rise or fall.
struct Moved {
  double step;
  unsigned can_rise, can_fall;
};

// Moves beta_i up and beta_j down by the same step; both side by side, and without a branch to be guessed.
SUREWOOD_INLINE Moved take_step(DualState& s, int i, int j, const float* ki) {
  const double curvature = static_cast<double>(s.diag[i]) + s.diag[j] - 2.0 * ki[j];
  const Two curvatures =
      choose(two(curvature, curvature) > two(0.0, 0.0), two(curvature, curvature), two(kTinyCurvature, kTinyCurvature));
  const Two hi = two(s.hi[i], s.hi[j]), lo = two(s.lo[i], s.lo[j]), beta = two(s.beta[i], s.beta[j]);
  const Two limit = two(s.hi[i], s.lo[j]);
  const double room_i = s.hi[i] - s.beta[i], room_j = s.beta[j] - s.lo[j], difference = s.v[i] - s.v[j];
  Two step = two(difference, difference) / curvatures;
  step = smaller(step, two(room_i, room_i));
  step = smaller(step, two(room_j, room_j));
  const Two after = choose(step == two(room_i, room_j), limit, beta + step * two(1.0, -1.0));
  s.beta[i] = after[0];
  s.beta[j] = after[1];
  return {step[0], less_bits(after, hi), less_bits(lo, after)};
}

SUREWOOD_INLINE void keep(DualState& s, Extremes e) {
  s.max_up = e.max_up;
  s.min_low = e.min_low;
  s.where = e.where;
}

SUREWOOD_INLINE void begin(DualState& s) {
  open_points(s);
  keep(s, first_pass(s));
}

// Whether the problem is done; then its status is set.
SUREWOOD_INLINE bool finished(DualState& s) {
  if (!(s.max_up - s.min_low >= s.tol)) {
    s.status = DualStatus::converged;
    return true;
  }
  if (s.iterations >= s.max_iter) {
    s.status = DualStatus::capped;
    return true;
  }
  return false;
}
