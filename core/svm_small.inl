// The inner loop of the dual solver for small problems, several side by side.
//
// Included inside a namespace once per instruction set, after svm_passes.inl. The same steps as there, bit for bit.
// Below some tens of points an iteration is one chain of dependent operations, so what counts is that the chains of
// several problems overlap. For that nothing may be guessed wrong: the whole kernel is there before the loop, the
// number of registers a problem takes is known to the compiler, which points may move is a word of bits, and no
// step branches.

constexpr int kSmallTogether = 4;
static_assert(kSmallTogether <= kMostInterleaved, "a desk for each");

struct SmallProblem {
  alignas(64) double falls[kSmallPoints];  // v where beta may fall, else +inf
  DualState* s;
  std::uint64_t up, low;  // which points may rise, may fall
  double max_up, min_low;
  std::int64_t iterations, pause;  // where the loop has to be left: the cap or the next free step
  int where;
};

template <int Vectors>
SUREWOOD_INLINE void keep_extremes(SmallProblem& p, const F64* v) {
  F64 rises[Vectors], best = v[0], least = v[0];
  for (int r = 0; r < Vectors; ++r) {
    rises[r] = can_rise(v[r], static_cast<unsigned>(p.up >> (r * SUREWOOD_LANES)));
    const F64 falls = can_fall(v[r], static_cast<unsigned>(p.low >> (r * SUREWOOD_LANES)));
    store(p.falls + r * SUREWOOD_LANES, falls);
    best = r ? larger(rises[r], best) : rises[r];
    least = r ? smaller(falls, least) : falls;
  }
  p.max_up = max_lane(best);
  p.min_low = min_lane(least);
  best = splat<F64>(p.max_up);
  std::uint64_t tied = 0;
  for (int r = 0; r < Vectors; ++r)
    tied |= static_cast<std::uint64_t>(equal_bits(rises[r], best)) << (r * SUREWOOD_LANES);
  p.where = lowest_bit64(tied);
}

template <int Vectors>
SUREWOOD_INLINE int small_partner(const SmallProblem& p, const float* ki) {
  const DualState& s = *p.s;
  const F64 top = splat<F64>(p.max_up);
  const F32 own = splat<F32>(s.diag[p.where]), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  F32 gain[Vectors], best = never;
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F32 gap = narrow(top - load<F64>(p.falls + k));
    const F32 curvature = larger((own + load<F32>(s.diag + k)) - two * load<F32>(ki + k), tiny);
    gain[r] = choose(gap > zero, gap * gap / curvature, never);
    best = r ? larger(gain[r], best) : gain[r];
  }
  best = splat<F32>(max_lane(best));
  std::uint64_t tied = 0;
  for (int r = 0; r < Vectors; ++r)
    tied |= static_cast<std::uint64_t>(equal_bits(gain[r], best)) << (r * SUREWOOD_LANES);
  return lowest_bit64(tied);
}

SUREWOOD_INLINE double small_step(SmallProblem& p, int j, const float* ki) {
  const int i = p.where;
  const Moved moved = take_step(*p.s, i, j, ki);
  const std::uint64_t one = 1, others = ~(one << i | one << j), rise = moved.can_rise, fall = moved.can_fall;
  p.up = (p.up & others) | (rise & 1) << i | (rise >> 1) << j;
  p.low = (p.low & others) | (fall & 1) << i | (fall >> 1) << j;
  return moved.step;
}

template <int Vectors>
SUREWOOD_INLINE void small_update(SmallProblem& p, double step, const float* ki, const float* kj) {
  const F64 steps = splat<F64>(step);
  F64 v[Vectors];
  double* const all_v = p.s->v;
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    v[r] = load<F64>(all_v + k) - steps * (widen(load<F32>(ki + k)) - widen(load<F32>(kj + k)));
    store(all_v + k, v[r]);
  }
  keep_extremes<Vectors>(p, v);
}

template <int Vectors>
SUREWOOD_INLINE void small_start(SmallProblem& p, DualState& s) {
  p.s = &s;
  p.up = p.low = 0;
  F64 v[Vectors];
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F64 beta = load<F64>(s.beta + k);
    p.up |= static_cast<std::uint64_t>(less_bits(beta, load<F64>(s.hi + k))) << k;
    p.low |= static_cast<std::uint64_t>(less_bits(load<F64>(s.lo + k), beta)) << k;
    v[r] = load<F64>(s.v + k);
  }
  p.iterations = s.iterations;
  p.pause = s.max_iter < s.next_free_step ? s.max_iter : s.next_free_step;
  keep_extremes<Vectors>(p, v);
}

SUREWOOD_INLINE void small_leave(const SmallProblem& p) {
  p.s->iterations = p.iterations;
  p.s->max_up = p.max_up;
  p.s->min_low = p.min_low;
  p.s->where = p.where;
}

SUREWOOD_INLINE bool small_goes_on(const SmallProblem& p) {
  return (p.max_up - p.min_low >= p.s->tol) & (p.iterations < p.pause);
}

// Iterations of `Together` problems until one of them has to be left.
template <int Vectors, int Together>
static void small_rounds(SmallProblem* problems) {
  for (;;) {
    bool go_on = true;
    for (int p = 0; p < Together; ++p) go_on &= small_goes_on(problems[p]);
    if (!go_on) return;
    const float *ki[Together], *kj[Together];
    double step[Together];
    int j[Together];
    for (int p = 0; p < Together; ++p) {
      ++problems[p].iterations;
      ki[p] = problems[p].s->kernel + problems[p].where * (Vectors * SUREWOOD_LANES);
      j[p] = small_partner<Vectors>(problems[p], ki[p]);
    }
    for (int p = 0; p < Together; ++p) {
      kj[p] = problems[p].s->kernel + j[p] * (Vectors * SUREWOOD_LANES);
      step[p] = small_step(problems[p], j[p], ki[p]);
    }
    for (int p = 0; p < Together; ++p) small_update<Vectors>(problems[p], step[p], ki[p], kj[p]);
  }
}

// A free step looks at rows one by one and at points that may move as the loop for larger problems does.
static void small_free_steps(DualState& s) {
  s.rows->list_all();
  open_points(s);
  free_steps(s);
}

template <int Vectors>
static void run_small_of(DualQueue& queue, DualState* first) {
  SmallProblem active[kSmallTogether];
  int count = 0;
  std::int64_t work = 0;
  for (DualState* next = first;;) {
    for (; next; next = count < kSmallTogether ? queue.next(nullptr) : nullptr) {
      small_start<Vectors>(active[count++], *next);
      if (count == kSmallTogether) break;
    }
    switch (count) {
      case 0: return;
      case 1: small_rounds<Vectors, 1>(active); break;
      case 2: small_rounds<Vectors, 2>(active); break;
      case 3: small_rounds<Vectors, 3>(active); break;
      default: small_rounds<Vectors, kSmallTogether>(active);
    }
    next = nullptr;
    for (int p = 0; p < count;) {
      if (small_goes_on(active[p])) {
        ++p;
        continue;
      }
      DualState& s = *active[p].s;
      work += (active[p].iterations - s.iterations) * s.padded;
      small_leave(active[p]);
      DualState* after = &s;
      if (!finished(s)) small_free_steps(s);
      if (finished(s)) after = queue.next(&s);
      if (after)
        small_start<Vectors>(active[p], *after);
      else
        active[p] = active[--count];
    }
    if (work > kPollWork) {
      work = 0;
      if (queue.stop_requested()) return;
    }
  }
}

// Problems with their whole kernel at hand, all of the first one's padded size.
static void run_small(DualQueue& queue, DualState* first) {
  switch (first->padded) {
    case 8: return run_small_of<8 / SUREWOOD_LANES>(queue, first);
    case 16: return run_small_of<16 / SUREWOOD_LANES>(queue, first);
    case 24: return run_small_of<24 / SUREWOOD_LANES>(queue, first);
    case 32: return run_small_of<32 / SUREWOOD_LANES>(queue, first);
    case 40: return run_small_of<40 / SUREWOOD_LANES>(queue, first);
    case 48: return run_small_of<48 / SUREWOOD_LANES>(queue, first);
    case 56: return run_small_of<56 / SUREWOOD_LANES>(queue, first);
    default: return run_small_of<64 / SUREWOOD_LANES>(queue, first);
  }
}

// Solves the problems of a queue.
static void run_duals(DualQueue& queue, int together) {
  DualState* first = queue.next(nullptr);
  if (first && first->kernel)
    run_small(queue, first);
  else if (first)
    run_large(queue, first, together);
}
