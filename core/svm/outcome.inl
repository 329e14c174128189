// What a solved problem says: its objective, bias and support points.
//
// Included inside a namespace once per instruction set, after svm/passes.inl.

// Eight sums of a lane each, joined in a fixed order: the same for any width.
struct LaneSums {
  static constexpr int kParts = 8 / SUREWOOD_LANES;
  F64 part[kParts];

  LaneSums() {
    for (F64& own : part) own = splat<F64>(0.0);
  }
  // The elements k, k + 1, ... of all.
  SUREWOOD_INLINE void add(int k, F64 values) {
    F64& own = part[k / SUREWOOD_LANES % kParts];
    own = own + values;
  }
  SUREWOOD_INLINE double total() const {
    double of[8];
    for (int p = 0; p < kParts; ++p) store(of + p * SUREWOOD_LANES, part[p]);
    return ((of[0] + of[1]) + (of[2] + of[3])) + ((of[4] + of[5]) + (of[6] + of[7]));
  }
};

// Where beta may still move up or down: what rounding left of a variable at its bound is not a free point.
struct Room {
  F64 up, down, least;

  SUREWOOD_INLINE Room(const DualState& s, int k, F64 largest) {
    const F64 beta = load<F64>(s.beta + k), lo = load<F64>(s.lo + k), hi = load<F64>(s.hi + k);
    up = hi - beta;
    down = beta - lo;
    least = splat<F64>(kRounding) * smaller(largest, hi - lo);
  }
};

// The middle of the biases that are optimal where no point is free.
static double bias_between_bounds(const DualState& s, F64 largest) {
  const F64 none = splat<F64>(-HUGE_VAL), all = splat<F64>(HUGE_VAL);
  F64 best = none, least = all;
  for (int k = 0; k < s.padded; k += SUREWOOD_LANES) {
    const Room room(s, k, largest);
    const F64 v = load<F64>(s.v + k);
    best = larger(choose(room.up > room.least, v, none), best);
    least = smaller(choose(room.down > room.least, v, all), least);
  }
  const double max_up = max_lane(best), min_low = min_lane(least);
  return max_up > -HUGE_VAL && min_low < HUGE_VAL ? 0.5 * (max_up + min_low) : 0.5 * (s.max_up + s.min_low);
}

// What the solution says: see DualOutcome.
static void measure_dual(const DualState& s, DualOutcome& out) {
  const F64 zero = splat<F64>(0.0), one = splat<F64>(1.0), half = splat<F64>(0.5);
  F64 most = zero;
  for (int k = 0; k < s.padded; k += SUREWOOD_LANES) {
    const F64 beta = load<F64>(s.beta + k);
    most = larger(larger(beta, zero - beta), most);
  }
  const F64 largest = splat<F64>(max_lane(most));
  LaneSums gains, free_v;
  int zeros = 0, free_count = 0;
  for (int k = 0; k < s.padded; k += SUREWOOD_LANES) {
    const F64 beta = load<F64>(s.beta + k), v = load<F64>(s.v + k);
    const F64 sign = choose(load<F64>(s.hi + k) > zero, one, zero - one);
    gains.add(k, half * beta * (sign + v));
    const Room room(s, k, largest);
    free_v.add(k, choose(room.up > room.least, choose(room.down > room.least, v, zero), zero));
    zeros += count_bits(equal_bits(beta, zero));
    free_count += count_bits(less_bits(room.least, room.up) & less_bits(room.least, room.down));
  }
  out.n_support = s.padded - zeros;
  out.objective = gains.total();
  // A free point lies on its margin, v_i = bias; without one every bias between the bounds is optimal.
  out.bias = free_count ? free_v.total() / static_cast<double>(free_count) : bias_between_bounds(s, largest);
}
