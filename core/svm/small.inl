// The inner loop of the dual solver for small problems, several side by side.
//
// Included inside a namespace once per instruction set, after svm/solver.inl. The same steps as run_large there, bit for bit.
// Below some tens of points an iteration is one chain of dependent operations, so what counts is that the chains of
// several problems overlap, and that little is done beside them. For that
// * nothing may be guessed wrong: the whole kernel is there before the loop, the number of registers a problem takes is
//   known to the compiler, which points may move is a word of bits, and no step branches;
// * what is done to two points only, and the last extreme of a register, is computed for four problems at once;
// * two sets of four take turns: while the steps of one are computed, the partners of the other are looked for.

constexpr int kSmallTogether = 4;  // problems of a set
static_assert(2 * kSmallTogether <= kMostInterleaved, "a solver for each");
// Problems of up to so many registers are searched four at once; of larger ones there is no room for four.
constexpr int kAtOnce = SUREWOOD_LANES >= 4 ? 5 : 0;

// Problems side by side: the first `active` lanes. What is computed for all at once stands together; the rest of a lane
// apart, or the compiler would gather it in registers just to store it. A lane without a problem takes steps of zero.
struct SmallProblems {
  struct Lane {
    double* values;  // the arrays of the DualState
    const float *kernel, *diag;
    std::uint64_t where, partner;
    std::int64_t iterations, pause;  // the loop has to be left at the cap or a free step
    DualState* s;
  };
  alignas(32) double max_up[kSmallTogether], min_low[kSmallTogether], tol[kSmallTogether], step[kSmallTogether];
  alignas(32) std::uint64_t up[kSmallTogether], low[kSmallTogether];  // which points may rise, may fall
  Lane lane[kSmallTogether];
  int active = 0;
  std::int64_t rounds = 0, most = 0;  // iterations since lanes were last settled, and how many there may be
  double no_values[kDualArrays * kSmallPoints] = {};
  float no_kernel = 0.0f;

  SmallProblems() {
    for (int p = 0; p < kSmallTogether; ++p) leave(p);
  }
  SmallProblems(const SmallProblems&) = delete;
  void leave(int p) {
    max_up[p] = HUGE_VAL;
    min_low[p] = -HUGE_VAL;
    tol[p] = 0.0;
    up[p] = low[p] = 0;
    lane[p] = {no_values, &no_kernel, &no_kernel, 0, 0, 0, 0, nullptr};
  }
  // Takes the last problem of a set, which may be this one, into lane p.
  void take(int p, SmallProblems& from) {
    const int last = --from.active;
    max_up[p] = from.max_up[last];
    min_low[p] = from.min_low[last];
    tol[p] = from.tol[last];
    up[p] = from.up[last];
    low[p] = from.low[last];
    lane[p] = from.lane[last];
    from.leave(last);
  }
};

// A bit for each lane of several registers that has a value; `values(r)` is register r.
template <int Vectors, typename Values, typename Lanes>
SUREWOOD_INLINE std::uint64_t equal_word(const Values& values, Lanes wanted) {
#if SUREWOOD_LANES == 8
  // Masks are joined before they leave for a general register, which takes its time.
  const auto half = [&](int r) SUREWOOD_INLINE_LAMBDA -> __mmask16 {
    const __mmask8 low = static_cast<__mmask8>(equal_bits(values(r), wanted));
    return r + 1 < Vectors ? _mm512_kunpackb(static_cast<__mmask8>(equal_bits(values(r + 1), wanted)), low) : low;
  };
  const auto word = [&](int r) SUREWOOD_INLINE_LAMBDA -> std::uint32_t {
    return r + 2 < Vectors ? _mm512_kunpackw(half(r + 2), half(r)) : half(r);
  };
  return Vectors > 4 ? static_cast<std::uint64_t>(word(4)) << 32 | word(0) : word(0);
#else
  std::uint64_t equal = 0;
  for (int r = 0; r < Vectors; ++r)
    equal |= static_cast<std::uint64_t>(equal_bits(values(r), wanted)) << (r * SUREWOOD_LANES);
  return equal;
#endif
}

// The bits of the points in one register.
SUREWOOD_INLINE unsigned bits_of(const std::uint64_t& word, int r) {
#if SUREWOOD_LANES == 8
  return _load_mask8(reinterpret_cast<__mmask8*>(const_cast<std::uint64_t*>(&word)) + r);
#else
  return static_cast<unsigned>(word >> (r * SUREWOOD_LANES));
#endif
}

// What the partners of lane p promise, see partner_pass; returns the largest by lane of the register.
template <int Vectors>
SUREWOOD_INLINE F32 gains_of(const SmallProblems& all, int p, F32* gain) {
  constexpr int kPadded = Vectors * SUREWOOD_LANES;
  const SmallProblems::Lane& lane = all.lane[p];
  const float* const ki = lane.kernel + lane.where * kPadded;
  const F64 top = splat<F64>(all.max_up[p]);
  const F32 diagonal = splat<F32>(lane.diag[lane.where]), two = splat<F32>(2.0f), tiny = splat<F32>(kTinyCurvature);
  const F32 zero = splat<F32>(0.0f), never = splat<F32>(-1.0f);
  F32 best = never;
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F32 gap = narrow(top - load<F64>(lane.values + kCanFall * kPadded + k));
    const F32 curvature = larger((diagonal + load<F32>(lane.diag + k)) - two * load<F32>(ki + k), tiny);
    gain[r] = choose(gap > zero, gap * gap / curvature, never);
    best = r ? larger(gain[r], best) : gain[r];
  }
  return best;
}

template <int Vectors>
SUREWOOD_INLINE void keep_partner(SmallProblems& all, int p, const F32* gain, float most) {
  const auto register_of = [&](int r) SUREWOOD_INLINE_LAMBDA { return gain[r]; };
  all.lane[p].partner = lowest_bit64(equal_word<Vectors>(register_of, splat<F32>(most)));
}

#if SUREWOOD_LANES >= 4
template <int Vectors>
SUREWOOD_INLINE void partners_at_once(SmallProblems& all) {
  F32 gain[kSmallTogether][Vectors], best[kSmallTogether];
#pragma GCC unroll 4
  for (int p = 0; p < kSmallTogether; ++p) best[p] = gains_of<Vectors>(all, p, gain[p]);
  const FourFloats most = max_lanes(best);
#pragma GCC unroll 4
  for (int p = 0; p < kSmallTogether; ++p) keep_partner<Vectors>(all, p, gain[p], most[p]);
}
#endif

template <int Vectors>
SUREWOOD_INLINE void small_partners(SmallProblems& all) {
#if SUREWOOD_LANES >= 4
  if constexpr (Vectors <= kAtOnce)
    if (all.active == kSmallTogether) return partners_at_once<Vectors>(all);
#endif
  for (int p = 0; p < all.active; ++p) {
    F32 gain[Vectors];
    const F32 best = gains_of<Vectors>(all, p, gain);
    keep_partner<Vectors>(all, p, gain, max_lane(best));
  }
}

// The steps of take_step, of all problems.
#if SUREWOOD_LANES >= 4
template <typename Value>
SUREWOOD_INLINE Four each(const Value& value) {
  return four(value(0), value(1), value(2), value(3));
}

template <typename Value>
SUREWOOD_INLINE Four widened_each(const Value& value) {
  return widened(FourFloats{value(0), value(1), value(2), value(3)});
}

template <int Vectors>
SUREWOOD_INLINE void small_steps(SmallProblems& all) {
  constexpr int kPadded = Vectors * SUREWOOD_LANES;
  SmallProblems::Lane* const lane = all.lane;
  const auto of_i = [&](int array) SUREWOOD_INLINE_LAMBDA {
    return each([&](int p) SUREWOOD_INLINE_LAMBDA { return lane[p].values[array * kPadded + lane[p].where]; });
  };
  const auto of_j = [&](int array) SUREWOOD_INLINE_LAMBDA {
    return each([&](int p) SUREWOOD_INLINE_LAMBDA { return lane[p].values[array * kPadded + lane[p].partner]; });
  };
  const auto kernel = [&](int p)
                          SUREWOOD_INLINE_LAMBDA { return lane[p].kernel[lane[p].where * kPadded + lane[p].partner]; };
  const auto diagonal_i = [&](int p) SUREWOOD_INLINE_LAMBDA { return lane[p].diag[lane[p].where]; };
  const auto diagonal_j = [&](int p) SUREWOOD_INLINE_LAMBDA { return lane[p].diag[lane[p].partner]; };
  const Four curvature = widened_each(diagonal_i) + widened_each(diagonal_j) - four(2.0) * widened_each(kernel);
  const Four beta_i = of_i(kBeta), lo_i = of_i(kLo), hi_i = of_i(kHi);
  const Four beta_j = of_j(kBeta), lo_j = of_j(kLo), hi_j = of_j(kHi);
  const Four room_i = hi_i - beta_i, room_j = beta_j - lo_j;
  Four step = (load<Four>(all.max_up) - of_j(kV)) / choose(curvature > four(0.0), curvature, four(kTinyCurvature));
  step = smaller(smaller(step, room_i), room_j);
  store(all.step, step);
  const Four after_i = choose(step == room_i, hi_i, beta_i + step);
  const Four after_j = choose(step == room_j, lo_j, beta_j - step);
  for (int p = 0; p < kSmallTogether; ++p) {
    lane[p].values[kBeta * kPadded + lane[p].where] = after_i[p];
    lane[p].values[kBeta * kPadded + lane[p].partner] = after_j[p];
  }
  const FourWords bit_i = bits_at(FourWords{lane[0].where, lane[1].where, lane[2].where, lane[3].where});
  const FourWords bit_j = bits_at(FourWords{lane[0].partner, lane[1].partner, lane[2].partner, lane[3].partner});
  const FourWords others = ~(bit_i | bit_j);
  store(all.up, (load<FourWords>(all.up) & others) | words_where_less(after_i, hi_i, bit_i) |
                    words_where_less(after_j, hi_j, bit_j));
  store(all.low, (load<FourWords>(all.low) & others) | words_where_less(lo_i, after_i, bit_i) |
                     words_where_less(lo_j, after_j, bit_j));
}
#else
template <int Vectors>
SUREWOOD_INLINE void small_steps(SmallProblems& all) {
  for (int p = 0; p < all.active; ++p) {
    const SmallProblems::Lane& lane = all.lane[p];
    const int i = static_cast<int>(lane.where), j = static_cast<int>(lane.partner);
    const Moved moved = take_step(*lane.s, i, j, lane.kernel + i * (Vectors * SUREWOOD_LANES));
    const std::uint64_t one = 1, others = ~(one << i | one << j), rise = moved.can_rise, fall = moved.can_fall;
    all.up[p] = (all.up[p] & others) | (rise & 1) << i | (rise >> 1) << j;
    all.low[p] = (all.low[p] & others) | (fall & 1) << i | (fall >> 1) << j;
    all.step[p] = moved.step;
  }
}
#endif

// v -= step (K_i - K_j) in lane p. `best` and `least` are the largest v that may rise and the smallest that may fall,
// by lane of the register.
template <int Vectors>
SUREWOOD_INLINE void move_v(const SmallProblems& all, int p, F64* kept, F64& best, F64& least) {
  constexpr int kPadded = Vectors * SUREWOOD_LANES;
  const SmallProblems::Lane& lane = all.lane[p];
  const float *const ki = lane.kernel + lane.where * kPadded, *const kj = lane.kernel + lane.partner * kPadded;
  const F64 steps = splat<F64>(all.step[p]);
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F64 v = load<F64>(lane.values + k) - steps * (widen(load<F32>(ki + k)) - widen(load<F32>(kj + k)));
    store(lane.values + k, v);
    const F64 falls = can_fall(v, bits_of(all.low[p], r));
    store(lane.values + kCanFall * kPadded + k, falls);
    best = r ? larger_where(bits_of(all.up[p], r), v, best) : can_rise(v, bits_of(all.up[p], r));
    least = r ? smaller(falls, least) : falls;
    kept[r] = v;
  }
}

template <int Vectors>
SUREWOOD_INLINE void keep_where(SmallProblems& all, int p, const F64* v, double top) {
  const auto register_of = [&](int r) SUREWOOD_INLINE_LAMBDA { return v[r]; };
  all.lane[p].where = lowest_bit64(equal_word<Vectors>(register_of, splat<F64>(top)) & all.up[p]);
}

#if SUREWOOD_LANES >= 4
template <int Vectors>
SUREWOOD_INLINE void updates_at_once(SmallProblems& all) {
  F64 v[kSmallTogether][Vectors], best[kSmallTogether], least[kSmallTogether];
#pragma GCC unroll 4
  for (int p = 0; p < kSmallTogether; ++p) move_v<Vectors>(all, p, v[p], best[p], least[p]);
  const Four top = max_lanes(best);
  store(all.max_up, top);
  store(all.min_low, min_lanes(least));
#pragma GCC unroll 4
  for (int p = 0; p < kSmallTogether; ++p) keep_where<Vectors>(all, p, v[p], top[p]);
}
#endif

template <int Vectors>
SUREWOOD_INLINE void small_updates(SmallProblems& all) {
  ++all.rounds;
#if SUREWOOD_LANES >= 4
  if constexpr (Vectors <= kAtOnce)
    if (all.active == kSmallTogether) return updates_at_once<Vectors>(all);
#endif
  for (int p = 0; p < all.active; ++p) {
    F64 v[Vectors], best, least;
    move_v<Vectors>(all, p, v, best, least);
    all.max_up[p] = max_lane(best);
    all.min_low[p] = min_lane(least);
    keep_where<Vectors>(all, p, v, all.max_up[p]);
  }
}

// Puts a started problem into lane p.
template <int Vectors>
SUREWOOD_INLINE void put(SmallProblems& all, int p, DualState& s) {
  const std::int64_t pause = s.max_iter < s.next_free_step ? s.max_iter : s.next_free_step;
  all.lane[p] = {s.v, s.kernel, s.diag, 0, 0, s.iterations, pause, &s};
  all.tol[p] = s.tol;
  all.up[p] = all.low[p] = 0;
  F64 v[Vectors], best = splat<F64>(-HUGE_VAL), least = splat<F64>(HUGE_VAL);
  for (int r = 0; r < Vectors; ++r) {
    const int k = r * SUREWOOD_LANES;
    const F64 beta = load<F64>(s.beta + k);
    const unsigned up = less_bits(beta, load<F64>(s.hi + k)), low = less_bits(load<F64>(s.lo + k), beta);
    all.up[p] |= static_cast<std::uint64_t>(up) << k;
    all.low[p] |= static_cast<std::uint64_t>(low) << k;
    v[r] = load<F64>(s.v + k);
    const F64 falls = can_fall(v[r], low);
    store(s.can_fall + k, falls);
    best = larger(can_rise(v[r], up), best);
    least = smaller(falls, least);
  }
  all.max_up[p] = max_lane(best);
  all.min_low[p] = min_lane(least);
  keep_where<Vectors>(all, p, v, all.max_up[p]);
}

SUREWOOD_INLINE bool goes_on(const SmallProblems& all, int p) {
  return all.max_up[p] - all.min_low[p] >= all.tol[p] && all.lane[p].iterations < all.lane[p].pause;
}

SUREWOOD_INLINE bool all_go_on(const SmallProblems& all) {
#if SUREWOOD_LANES >= 4
  const Four gap = load<Four>(all.max_up) - load<Four>(all.min_low);
  return all_at_least(gap, load<Four>(all.tol)) & (all.rounds < all.most);
#else
  bool go_on = all.rounds < all.most;
  for (int p = 0; p < all.active; ++p) go_on &= all.max_up[p] - all.min_low[p] >= all.tol[p];
  return go_on;
#endif
}

// A free step looks at rows one by one and at points that may move as the loop for larger problems does.
static void small_free_steps(DualState& s) {
  s.rows->list_all();
  open_points(s);
  free_steps(s);
}

// Gives lanes whose problem is done the next one of the queue, or one of the set `other`, which may be nullptr. Returns
// the work done since the last time.
template <int Vectors>
static std::int64_t settle(SmallProblems& all, DualQueue& queue, SmallProblems* other) {
  const std::int64_t work = all.active * all.rounds * (Vectors * SUREWOOD_LANES);
  for (int p = 0; p < all.active; ++p) all.lane[p].iterations += all.rounds;
  all.rounds = 0;
  for (int p = 0; p < all.active;) {
    if (goes_on(all, p)) {
      ++p;
      continue;
    }
    DualState& s = *all.lane[p].s;
    s.iterations = all.lane[p].iterations;
    s.max_up = all.max_up[p];
    s.min_low = all.min_low[p];
    s.where = static_cast<int>(all.lane[p].where);
    if (!finished(s)) small_free_steps(s);
    DualState* const next = finished(s) ? queue.next(&s) : &s;
    if (next) {
      put<Vectors>(all, p, *next);
    } else if (other && other->active) {
      all.take(p, *other);
      all.lane[p].iterations += other->rounds;
    } else {
      all.take(p, all);
    }
  }
  all.most = INT64_MAX;
  for (int p = 0; p < all.active; ++p) all.most = std::min(all.most, all.lane[p].pause - all.lane[p].iterations);
  return work;
}

// Two sets of problems in turn: while the steps of one are computed, the partners of the other are looked for.
template <int Vectors>
static void run_small_of(DualQueue& queue, DualState* first) {
  SmallProblems sets[2];
  for (DualState* next = first; next;) {
    SmallProblems& set = sets[sets[0].active == kSmallTogether];
    put<Vectors>(set, set.active++, *next);
    next = sets[1].active < kSmallTogether ? queue.next(nullptr) : nullptr;
  }
  std::int64_t work = settle<Vectors>(sets[1], queue, nullptr);
  work += settle<Vectors>(sets[0], queue, sets + 1);
  SmallProblems *ahead = sets, *behind = sets + 1;
  small_partners<Vectors>(*ahead);
  while (ahead->active + behind->active > 0) {
    if (!all_go_on(*behind)) work += settle<Vectors>(*behind, queue, behind == sets ? ahead : nullptr);
    if (ahead->active) small_steps<Vectors>(*ahead);
    small_partners<Vectors>(*behind);
    small_updates<Vectors>(*ahead);
    std::swap(ahead, behind);
    if (work > kPollWork) {
      work = 0;
      if (queue.stop_requested()) return;
    }
  }
}

// Problems with their whole kernel at hand, all of the first one's padded size.
static void run_small(DualQueue& queue, DualState* first) {
  switch (first->padded) {
    case 8:
      return run_small_of<8 / SUREWOOD_LANES>(queue, first);
    case 16:
      return run_small_of<16 / SUREWOOD_LANES>(queue, first);
    case 24:
      return run_small_of<24 / SUREWOOD_LANES>(queue, first);
    case 32:
      return run_small_of<32 / SUREWOOD_LANES>(queue, first);
    case 40:
      return run_small_of<40 / SUREWOOD_LANES>(queue, first);
    case 48:
      return run_small_of<48 / SUREWOOD_LANES>(queue, first);
    case 56:
      return run_small_of<56 / SUREWOOD_LANES>(queue, first);
    default:
      return run_small_of<64 / SUREWOOD_LANES>(queue, first);
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
