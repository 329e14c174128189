// The inner loop of the dual solver for small problems, several side by side.
//
// Included inside a namespace once per instruction set, after svm_passes.inl. The same steps as there, bit for bit.
// Below some tens of points an iteration is one chain of dependent operations, so what counts is that the chains of
// several problems overlap. For that nothing may be guessed wrong: the whole kernel is there before the loop, the
// number of registers a problem takes is known to the compiler, which points may move is a word of bits, and no
// step branches.

constexpr int kSmallTogether = 4;

// v where its bit is set, else `closed`.
SUREWOOD_INLINE F64 open_or(F64 v, std::uint64_t bits, F64 closed) {
#if SUREWOOD_LANES == 8
  return (F64)_mm512_mask_blend_pd(static_cast<__mmask8>(bits), (__m512d)closed, (__m512d)v);
#else
  long long set[SUREWOOD_LANES];
  for (int l = 0; l < SUREWOOD_LANES; ++l) set[l] = static_cast<long long>(bits >> l & 1);
  return choose(load<I64>(set) == splat<I64>(0LL), closed, v);
#endif
}

struct SmallProblem {
  DualState* s;
  std::uint64_t up, low;  // which points may rise, may fall
  double max_up, min_low;
  std::int64_t iterations, pause;  // where the loop has to be left: the cap or the next free step
  int where;
};

template <int Vectors>
SUREWOOD_INLINE void keep_extremes(SmallProblem& p, const F64* v) {
  const F64 none = splat<F64>(-HUGE_VAL), all = splat<F64>(HUGE_VAL);
  F64 can_rise[Vectors], best = none, least = all;
  for (int r = 0; r < Vectors; ++r) {
    can_rise[r] = open_or(v[r], p.up >> (r * SUREWOOD_LANES), none);
    const F64 can_fall = open_or(v[r], p.low >> (r * SUREWOOD_LANES), all);
    best = r ? larger(can_rise[r], best) : can_rise[r];
    least = r ? smaller(can_fall, least) : can_fall;
  }
  best = max_of(best);
  std::uint64_t tied = 0;
  for (int r = 0; r < Vectors; ++r)
    tied |= static_cast<std::uint64_t>(equal_bits(can_rise[r], best)) << (r * SUREWOOD_LANES);
  p.where = lowest_bit64(tied);
  p.max_up = best[0];
  p.min_low = min_of(least)[0];
}

template <int Vectors>
SUREWOOD_INLINE int small_partner(const SmallProblem& p, const float* ki) {
  const DualState& s = *p.s;
  const F64 top = splat<F64>(p.max_up), never_low = splat<F64>(HUGE_VAL);
  const F32 own = splat<F32>(s.diag[p.where]), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  F32 gain[Vectors], best = never;
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F32 gap = narrow(top - open_or(load<F64>(s.v + k), p.low >> k, never_low));
    const F32 curvature = larger((own + load<F32>(s.diag + k)) - two * load<F32>(ki + k), tiny);
    gain[r] = choose(gap > zero, gap * gap / curvature, never);
    best = r ? larger(gain[r], best) : gain[r];
  }
  best = max_of(best);
  std::uint64_t tied = 0;
  for (int r = 0; r < Vectors; ++r)
    tied |= static_cast<std::uint64_t>(equal_bits(gain[r], best)) << (r * SUREWOOD_LANES);
  return lowest_bit64(tied);
}

// take_step without a branch: the points i and j side by side.
SUREWOOD_INLINE double small_step(SmallProblem& p, int j, const float* ki) {
  DualState& s = *p.s;
  const int i = p.where;
  const double curvature = static_cast<double>(s.diag[i]) + s.diag[j] - 2.0 * ki[j];
  const Two curvatures = choose(two(curvature, curvature) > two(0.0, 0.0), two(curvature, curvature),
                                two(kTinyCurvature, kTinyCurvature));
  const Two hi = two(s.hi[i], s.hi[j]), lo = two(s.lo[i], s.lo[j]), beta = two(s.beta[i], s.beta[j]);
  const Two limit = two(s.hi[i], s.lo[j]);
  const double room_i = s.hi[i] - s.beta[i], room_j = s.beta[j] - s.lo[j], difference = s.v[i] - s.v[j];
  Two step = two(difference, difference) / curvatures;
  step = smaller(step, two(room_i, room_i));
  step = smaller(step, two(room_j, room_j));
  const Two after = choose(step == two(room_i, room_j), limit, beta + step * two(1.0, -1.0));
  s.beta[i] = after[0];
  s.beta[j] = after[1];
  const std::uint64_t one = 1, others = ~(one << i | one << j);
  const std::uint64_t rise = less_bits(after, hi), fall = less_bits(lo, after);
  p.up = (p.up & others) | (rise & 1) << i | (rise >> 1) << j;
  p.low = (p.low & others) | (fall & 1) << i | (fall >> 1) << j;
  return step[0];
}

template <int Vectors>
SUREWOOD_INLINE void small_update(SmallProblem& p, double step, const float* ki, const float* kj) {
  const F64 steps = splat<F64>(step);
  F64 v[Vectors];
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    v[r] = load<F64>(p.s->v + k) - steps * (widen(load<F32>(ki + k)) - widen(load<F32>(kj + k)));
    store(p.s->v + k, v[r]);
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

// Iterations of `Together` problems until one of them has to be left.
template <int Vectors, int Together>
static void small_rounds(SmallProblem* problems) {
  for (;;) {
    bool go_on = true;
    for (int p = 0; p < Together; ++p)
      go_on &= (problems[p].max_up - problems[p].min_low >= problems[p].s->tol) & (problems[p].iterations < problems[p].pause);
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

template <int Vectors>
static void run_small_of(DualState* const* states, int total) {
  SmallProblem active[kSmallTogether];
  int count = 0, next = 0;
  for (;;) {
    while (count < kSmallTogether && next < total) small_start<Vectors>(active[count++], *states[next++]);
    switch (count) {
      case 0: return;
      case 1: small_rounds<Vectors, 1>(active); break;
      case 2: small_rounds<Vectors, 2>(active); break;
      case 3: small_rounds<Vectors, 3>(active); break;
      default: small_rounds<Vectors, kSmallTogether>(active);
    }
    for (int p = 0; p < count;) {
      const bool goes_on = active[p].max_up - active[p].min_low >= active[p].s->tol && active[p].iterations < active[p].pause;
      if (goes_on) {
        ++p;
        continue;
      }
      small_leave(active[p]);
      active[p] = active[--count];
    }
  }
}

// What the loop for problems of any size wants to know of a small one that was not finished.
static void goes_on_large(DualState& s) {
  s.rows->list_all();
  for (int i = 0; i < s.n; ++i) refresh(s, i);
  for (int i = s.n; i < s.padded; ++i) {
    s.up[i] = -HUGE_VAL;
    s.low[i] = HUGE_VAL;
  }
}

// Problems with their whole kernel at hand, all of one padded size.
static void run_small(DualState* const* states, int total) {
  switch (states[0]->padded) {
    case 8: return run_small_of<8 / SUREWOOD_LANES>(states, total);
    case 16: return run_small_of<16 / SUREWOOD_LANES>(states, total);
    case 24: return run_small_of<24 / SUREWOOD_LANES>(states, total);
    case 32: return run_small_of<32 / SUREWOOD_LANES>(states, total);
    case 40: return run_small_of<40 / SUREWOOD_LANES>(states, total);
    case 48: return run_small_of<48 / SUREWOOD_LANES>(states, total);
    case 56: return run_small_of<56 / SUREWOOD_LANES>(states, total);
    default: return run_small_of<64 / SUREWOOD_LANES>(states, total);
  }
}

// Solves `count` problems, `together` of them (at most kMostInterleaved) at a time.
//
// An iteration is a chain of dependent operations, longer than the processor looks ahead. Each stage is
// therefore done for all the problems at work before the next one: the passes of one problem fill the waiting
// times of another.
static void run_duals(DualState* const* states, int total, int together) {
  DualState* active[kMostInterleaved];
  const float *row_i[kMostInterleaved], *row_j[kMostInterleaved];
  double step[kMostInterleaved];
  int partner[kMostInterleaved], count = 0, next = 0;
  const bool small = total > 0 && states[0]->kernel;
  if (small) run_small(states, total);
  for (std::int64_t work = 0;;) {
    for (int p = 0; p < count; ++p)
      if (active[p]->iterations >= active[p]->next_free_step && !finished(*active[p])) free_steps(*active[p]);
    for (int p = 0; p < count;)
      if (finished(*active[p]))
        active[p] = active[--count];
      else
        ++p;
    while (count < together && next < total) {
      active[count] = states[next++];
      if (!small) keep(*active[count], first_pass(*active[count]));
      if (finished(*active[count])) continue;
      if (small) {  // it paused for a free step
        goes_on_large(*active[count]);
        free_steps(*active[count]);
        if (finished(*active[count])) continue;
      }
      ++count;
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
      step[p] = take_step(*active[p], active[p]->where, partner[p], row_i[p]);
    }
    for (int p = 0; p < count; ++p) {
      keep(*active[p], update_pass(*active[p], step[p], row_i[p], row_j[p]));
      work += active[p]->padded;
    }
    if (work > kPollWork) {
      work = 0;
      if (active[0]->stop->requested()) {
        for (int p = 0; p < total; ++p) states[p]->status = DualStatus::stopped;
        return;
      }
    }
  }
}
