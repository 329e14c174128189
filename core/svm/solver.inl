// The dual solver: two fused passes over the points per iteration; Newton steps over the free points, where pair steps
// crawl; what a solved problem says; the loop for problems whose kernel rows are built when they are asked for.
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
  const F32 diagonal = splat<F32>(diag_i), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  Best<F32, I32> best = {{never, never}, {splat<I32>(0), splat<I32>(0)}};
  I32 at = counting<I32, int>();
  const int padded = s.padded;
  const double* const all_falls = s.can_fall;
  const auto see = [&](int k, int chain) SUREWOOD_INLINE_LAMBDA {
    const F32 gap = narrow(top - load<F64>(all_falls + k));
    const F32 curvature = larger((diagonal + load<F32>(s.diag + k)) - two * load<F32>(ki + k), tiny);
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
  std::uint8_t& byte = bits[i / SUREWOOD_LANES];
  const int lane = i % SUREWOOD_LANES;
  byte = static_cast<std::uint8_t>((byte & ~(1u << lane)) | value << lane);
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


// target -= factor * row, element by element.
SUREWOOD_INLINE void subtract_row(double* target, double factor, const double* row, int from, int to) {
  const F64 factors = splat<F64>(factor);
  int k = from;
  for (; k + SUREWOOD_LANES <= to; k += SUREWOOD_LANES)
    store(target + k, load<F64>(target + k) - factors * load<F64>(row + k));
  for (; k < to; ++k) target[k] = target[k] - factor * row[k];
}

enum class FreeStep { none, cut, whole };

// One Newton step over the free points, or, where their kernel is singular, a move along the first direction without
// curvature. Cut where a point meets its bound; none where nothing was moved. Sums are formed element by element, as
// everywhere: the same for any width.
static FreeStep free_step(DualState& s, int& free_count) {
  int at[kMostFree], count = 0;
  free_count = 0;
  for (int i = 0; i < s.n; ++i)
    if (s.beta[i] > s.lo[i] && s.beta[i] < s.hi[i]) {
      if (count == kMostFree) return FreeStep::none;
      at[count++] = i;
    }
  free_count = count;
  if (count < 2) return FreeStep::none;
  // Values are copied: a row may be thrown out when the next one is built.
  float free_kernel[kMostFree][kMostFree];
  int in_kernel[kMostFree];
  for (int p = 0; p < count; ++p) {
    const float* row = row_of(s, at[p]);
    for (int q = 0; q < count; ++q) free_kernel[p][q] = row[at[q]];
    in_kernel[p] = p;
  }
  // The last point answers for the sum: H_pq = <e_p - e_last, K (e_q - e_last)>, g_p = v_p - v_last.
  int k = count - 1;
  const int last = at[k];
  const float* const last_row = free_kernel[k];
  double U[kMostFree * kMostFree];  // rows of the factor, H = U' D^-1 U, D the diagonal of U
  double w[kMostFree], g[kMostFree], d[kMostFree];
  int rank = 0;
  for (; rank < k; ++rank) {
    const int i = at[rank];
    const float* row = free_kernel[in_kernel[rank]];
    const double base = static_cast<double>(last_row[count - 1]) - row[count - 1];
    for (int q = 0; q <= rank; ++q) w[q] = base + (static_cast<double>(row[in_kernel[q]]) - last_row[in_kernel[q]]);
    const double curvature = w[rank];
    g[rank] = s.v[i] - s.v[last];
    for (int q = 0; q < rank; ++q) {
      double* row_of_U = U + q * kMostFree;
      const double factor = w[q] / row_of_U[q];
      subtract_row(w, factor, row_of_U, q + 1, rank);
      w[rank] = w[rank] - factor * w[q];
      g[rank] = g[rank] - factor * g[q];
      row_of_U[rank] = w[q];
    }
    U[rank * kMostFree + rank] = w[rank];
    if (w[rank] > kFlat * curvature) continue;
    if (!(std::fabs(g[rank]) < 0.5 * s.tol)) break;
    // Nothing to gain by this point: it stays as it is.
    for (int q = rank; q < k; ++q) {
      at[q] = at[q + 1];
      in_kernel[q] = in_kernel[q + 1];
    }
    --k;
    --rank;
  }
  // Right side: g for the Newton step; the column of the dependent point for the flat direction, on which the
  // objective is all but linear.
  const bool flat = rank < k;
  double share = 1.0, sum = 0.0;
  const int moved = flat ? rank + 1 : k;
  if (flat) {
    share = w[rank] > 0.0 ? std::fabs(g[rank]) / w[rank] : HUGE_VAL;
    d[rank] = g[rank] < 0.0 ? -1.0 : 1.0;
    sum = d[rank];
    for (int p = 0; p < rank; ++p) g[p] = -d[rank] * U[p * kMostFree + rank];
  }
  for (int p = rank - 1; p >= 0; --p) {
    d[p] = g[p] / U[p * kMostFree + p];
    sum = sum + d[p];
    for (int q = 0; q < p; ++q) g[q] = g[q] - U[q * kMostFree + p] * d[p];
  }
  at[moved] = last;
  d[moved] = -sum;
  int hit = -1;
  for (int p = 0; p <= moved; ++p) {
    const double room = (d[p] > 0.0 ? s.hi[at[p]] : s.lo[at[p]]) - s.beta[at[p]];
    if (d[p] != 0.0 && room / d[p] < share) {
      share = room / d[p];
      hit = p;
    }
  }
  if (!(share > 0.0 && share < HUGE_VAL)) return FreeStep::none;
  for (int p = 0; p <= moved; ++p)
    if (!(std::fabs(share * d[p]) < HUGE_VAL)) return FreeStep::none;
  for (int p = 0; p <= moved; ++p) {
    const int i = at[p];
    const double before = s.beta[i];
    double after = before + share * d[p];
    after = after < s.hi[i] ? after : s.hi[i];
    after = after > s.lo[i] ? after : s.lo[i];
    if (p == hit) after = d[p] > 0.0 ? s.hi[i] : s.lo[i];
    s.beta[i] = after;
    set_bit(s.may_rise, i, after < s.hi[i]);
    set_bit(s.may_fall, i, after > s.lo[i]);
    const float* row = row_of(s, i);
    const F64 steps = splat<F64>(after - before);
    for (int e = 0; e < s.padded; e += SUREWOOD_LANES)
      store(s.v + e, load<F64>(s.v + e) - steps * widen(load<F32>(row + e)));
  }
  return hit < 0 ? FreeStep::whole : FreeStep::cut;
}

// Free steps until the free points are at their optimum. Plain iterations then find the next points to set free;
// there are as many of them as would cost the same.
static void free_steps(DualState& s) {
  std::int64_t cost = 8 + s.n / 10;
  for (int round = 0; round < kFreeRounds && s.iterations < s.max_iter; ++round) {
    int free_count;
    const FreeStep taken = free_step(s, free_count);
    cost += free_count;
    if (taken == FreeStep::none) break;
    ++s.iterations;
    if (taken == FreeStep::whole) break;
  }
  keep(s, first_pass(s));
  s.next_free_step = s.iterations + cost;
}


// Eight sums of a lane each, joined in a fixed order: the same for any width.
struct LaneSums {
  static constexpr int kParts = 8 / SUREWOOD_LANES;
  F64 part[kParts];

  LaneSums() {
    for (F64& sum : part) sum = splat<F64>(0.0);
  }
  // The elements k, k + 1, ... of all.
  SUREWOOD_INLINE void add(int k, F64 values) {
    F64& sum = part[k / SUREWOOD_LANES % kParts];
    sum = sum + values;
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


// Solves the problems of a queue, `together` of them (at most kMostInterleaved) at a time.
//
// An iteration is a chain of dependent operations, longer than the processor looks ahead. Each stage is
// therefore done for all the problems at work before the next one: the passes of one problem fill the waiting
// times of another.
static void run_large(DualQueue& queue, DualState* first, int together) {
  DualState* active[kMostInterleaved];
  const float *row_i[kMostInterleaved], *row_j[kMostInterleaved];
  double step[kMostInterleaved];
  int partner[kMostInterleaved], count = 0;
  std::int64_t work = 0;
  for (DualState* next = first;;) {
    for (; next; next = count < together ? queue.next(nullptr) : nullptr) {
      active[count++] = next;
      begin(*next);
    }
    for (int p = 0; p < count;) {
      DualState& s = *active[p];
      if (s.iterations >= s.next_free_step && !finished(s)) free_steps(s);
      if (!finished(s)) {
        ++p;
        continue;
      }
      active[p] = queue.next(&s);
      if (active[p])
        begin(*active[p]);
      else
        active[p] = active[--count];
    }
    if (count == 0) return;
    for (int p = 0; p < count; ++p) {
      DualState& s = *active[p];
      ++s.iterations;
      ++s.rows->clock;
      row_i[p] = row_of(s, s.where);
      partner[p] = partner_pass(s, s.v[s.where], s.diag[s.where], row_i[p]);
    }
    for (int p = 0; p < count; ++p) {
      row_j[p] = row_of(*active[p], partner[p]);
      DualState& s = *active[p];
      const Moved moved = take_step(s, s.where, partner[p], row_i[p]);
      set_bit(s.may_rise, s.where, moved.can_rise & 1);
      set_bit(s.may_fall, s.where, moved.can_fall & 1);
      set_bit(s.may_rise, partner[p], moved.can_rise >> 1);
      set_bit(s.may_fall, partner[p], moved.can_fall >> 1);
      step[p] = moved.step;
    }
    for (int p = 0; p < count; ++p) {
      keep(*active[p], update_pass(*active[p], step[p], row_i[p], row_j[p]));
      work += active[p]->padded;
    }
    if (work > kPollWork) {
      work = 0;
      if (queue.stop_requested()) return;
    }
  }
}
