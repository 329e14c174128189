// Votes of one SVM at a block of rows, in single precision; the contract is in svm/vote_block.hpp.
//
// Included inside a namespace once per instruction set, after svm/lanes.inl (see svm/targets.cpp). Nothing here has
// to be equal between instruction sets: multiply-adds may be fused.

#if defined(__GNUC__) || defined(__clang__)
typedef float Wide __attribute__((vector_size(64)));
typedef int WideInt __attribute__((vector_size(64)));
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE Wide multiply_add(Wide a, Wide b, Wide c) {
  return (Wide)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
SUREWOOD_INLINE Wide wide(float x) { return (Wide)_mm512_set1_ps(x); }
#else
SUREWOOD_INLINE Wide multiply_add(Wide a, Wide b, Wide c) { return a * b + c; }
SUREWOOD_INLINE Wide wide(float x) { return Wide{} + x; }
#endif
SUREWOOD_INLINE WideInt wide_int(int x) { return WideInt{} + x; }
SUREWOOD_INLINE WideInt wide_above(Wide a, Wide b) { return a > b; }  // -1 where true
SUREWOOD_INLINE WideInt wide_more(WideInt a, WideInt b) { return a > b; }
SUREWOOD_INLINE Wide wide_size(Wide a) { return (Wide)((WideInt)a & 0x7fffffff); }
SUREWOOD_INLINE WideInt wide_choose(WideInt mask, WideInt yes, WideInt no) { return (mask & yes) | (~mask & no); }
SUREWOOD_INLINE Wide wide_most(Wide a, Wide b) { return b > a ? b : a; }
// The smaller; NaN as soon as one was seen.
SUREWOOD_INLINE Wide wide_least(Wide a, Wide b) { return b > a ? a : (a == a ? b : a); }
#else
struct Wide {
  float at[16];
};
struct WideInt {
  int at[16];
};
#define SUREWOOD_WIDE(result, name, A, B, expression)    \
  inline result name(const A& a, const B& b) {           \
    result out;                                          \
    for (int l = 0; l < 16; ++l) out.at[l] = expression; \
    return out;                                          \
  }
SUREWOOD_WIDE(Wide, operator*, Wide, Wide, a.at[l] * b.at[l])
SUREWOOD_WIDE(Wide, operator+, Wide, Wide, a.at[l] + b.at[l])
SUREWOOD_WIDE(WideInt, operator+, WideInt, WideInt, a.at[l] + b.at[l])
SUREWOOD_WIDE(WideInt, operator-, WideInt, WideInt, a.at[l] - b.at[l])
SUREWOOD_WIDE(WideInt, wide_above, Wide, Wide, a.at[l] > b.at[l] ? -1 : 0)
SUREWOOD_WIDE(WideInt, wide_more, WideInt, WideInt, a.at[l] > b.at[l] ? -1 : 0)
SUREWOOD_WIDE(Wide, wide_most, Wide, Wide, b.at[l] > a.at[l] ? b.at[l] : a.at[l])
SUREWOOD_WIDE(Wide, wide_least, Wide, Wide, b.at[l] > a.at[l] || a.at[l] != a.at[l] ? a.at[l] : b.at[l])
#undef SUREWOOD_WIDE
inline Wide multiply_add(const Wide& a, const Wide& b, const Wide& c) { return a * b + c; }
inline Wide wide(float x) {
  Wide out;
  for (int l = 0; l < 16; ++l) out.at[l] = x;
  return out;
}
inline WideInt wide_int(int x) {
  WideInt out;
  for (int l = 0; l < 16; ++l) out.at[l] = x;
  return out;
}
inline Wide wide_size(Wide a) {
  for (int l = 0; l < 16; ++l) a.at[l] = std::fabs(a.at[l]);
  return a;
}
inline WideInt wide_choose(const WideInt& mask, WideInt yes, const WideInt& no) {
  for (int l = 0; l < 16; ++l) yes.at[l] = mask.at[l] ? yes.at[l] : no.at[l];
  return yes;
}
#endif

constexpr int kVoteParts = kVoteRows / 16;  // registers a block
// Support points at a time: their sums have to stay in registers.
constexpr int kVoteStep = SUREWOOD_LANES == 8 ? kVoteSupport : kVoteSupport / 2;

// Kernel values of `kVoteStep` support points at `Parts` registers of rows. x is (d, kVoteRows).
// `peak` is raised to the largest |gamma <x,s> + coef0|, where that is asked for. `products`, unless nullptr, are the
// inner products, (kVoteStep, kVoteRows); d is 0 then.
template <int Parts, bool Peak>
SUREWOOD_INLINE void support_values(const float* x, const float* panel, int d, const float* products,
                                    const PolyValues& k, float* out, Wide* peak) {
  Wide sums[kVoteStep][Parts];
  for (int s = 0; s < kVoteStep; ++s)
    for (int q = 0; q < Parts; ++q)
      sums[s][q] = products ? load<Wide>(products + s * kVoteRows + 16 * q) : wide(0.0f);
  for (int f = 0; f < d; ++f, x += kVoteRows, panel += kVoteSupport)
    for (int s = 0; s < kVoteStep; ++s) {
      const Wide point = wide(panel[s]);
      for (int q = 0; q < Parts; ++q) sums[s][q] = multiply_add(point, load<Wide>(x + 16 * q), sums[s][q]);
    }
  const Wide g = wide(k.gamma), b = wide(k.coef0);
  Wide power[kVoteStep][Parts];
  const auto each = [](auto&& work) SUREWOOD_INLINE_LAMBDA {
    for (int s = 0; s < kVoteStep; ++s)
      for (int q = 0; q < Parts; ++q) work(s, q);
  };
  each([&](int s, int q) SUREWOOD_INLINE_LAMBDA {
    sums[s][q] = multiply_add(g, sums[s][q], b);
    if (Peak) peak[q] = wide_most(peak[q], wide_size(sums[s][q]));
    power[s][q] = (k.degree & 1) ? sums[s][q] : wide(1.0f);
  });
  for (int e = k.degree >> 1; e; e >>= 1) {  // one loop for all of them
    each([&](int s, int q) SUREWOOD_INLINE_LAMBDA { sums[s][q] = sums[s][q] * sums[s][q]; });
    if (e & 1) each([&](int s, int q) SUREWOOD_INLINE_LAMBDA { power[s][q] = power[s][q] * sums[s][q]; });
  }
  each([&](int s, int q) SUREWOOD_INLINE_LAMBDA { store(out + s * kVoteRows + 16 * q, power[s][q]); });
}

template <int Parts, bool Peak>
SUREWOOD_INLINE void value_parts(const BlockSvm& m, const float* x, BlockVotes& out) {
  Wide peak[Parts];
  for (int q = 0; q < Parts; ++q) peak[q] = wide(Peak ? 0.0f : HUGE_VALF);
  for (int s = 0; s < m.n_support; s += kVoteStep) {
    const float* panel = m.panels + static_cast<std::int64_t>(s / kVoteSupport) * kVoteSupport * m.d;
    const float* products = m.products ? m.products + static_cast<std::int64_t>(s) * kVoteRows : nullptr;
    support_values<Parts, Peak>(x, panel + s % kVoteSupport, m.d, products, m.poly, out.values.data() + s * kVoteRows,
                                peak);
  }
  for (int q = 0; q < Parts; ++q) store(out.peak + 16 * q, peak[q]);
}

// Adds -1 or 0 to counts of rows.
SUREWOOD_INLINE void count_down(std::int32_t* counts, WideInt mask) { store(counts, load<WideInt>(counts) + mask); }

// Counts are kept as negative numbers: masks are -1.
template <int Parts>
SUREWOOD_INLINE void pair_parts(const BlockSvm& m, const float* doubt, BlockVotes& out) {
  const float* values = out.values.data();
  std::int32_t* pairs = out.pairs.data();
  std::memset(pairs, 0, sizeof(std::int32_t) * 2 * kVoteRows * m.n_classes);
  Wide beyond[Parts];
  for (int q = 0; q < Parts; ++q) beyond[q] = load<Wide>(doubt + 16 * q);
  int pair = 0;
  for (int a = 0; a < m.n_classes; ++a) {
    std::int32_t* pairs_of_a = pairs + 2 * a * kVoteRows;
    for (int b = a + 1; b < m.n_classes; ++b, ++pair) {
      std::int32_t* other = pairs + 2 * b * kVoteRows;
      // Two sums a register, joined at the end: more additions under way.
      Wide even[Parts], odd[Parts];
      for (int q = 0; q < Parts; ++q) even[q] = wide(m.bias[pair]), odd[q] = wide(0.0f);
      int e = m.entry_at[pair];
      const int end = m.entry_at[pair + 1];
      for (; e + 2 <= end; e += 2) {
        const Wide first = wide(m.entry_coef[e]), second = wide(m.entry_coef[e + 1]);
        const float *at = values + m.entry_row[e], *next = values + m.entry_row[e + 1];
        for (int q = 0; q < Parts; ++q) {
          even[q] = multiply_add(first, load<Wide>(at + 16 * q), even[q]);
          odd[q] = multiply_add(second, load<Wide>(next + 16 * q), odd[q]);
        }
      }
      if (e < end)
        for (int q = 0; q < Parts; ++q)
          even[q] = multiply_add(wide(m.entry_coef[e]), load<Wide>(values + m.entry_row[e] + 16 * q), even[q]);
      for (int q = 0; q < Parts; ++q) {
        const Wide decision = (even[q] + odd[q]) * wide(m.unit[pair]);
        const WideInt won = wide_above(decision, beyond[q]), lost = wide_above(decision * wide(-1.0f), beyond[q]);
        count_down(pairs_of_a + 16 * q, won);
        count_down(pairs_of_a + kVoteRows + 16 * q, lost);
        count_down(other + 16 * q, lost);
        count_down(other + kVoteRows + 16 * q, won);
      }
    }
  }
  const WideInt none = wide_int(0), all = wide_int(m.n_classes - 1);
  for (int q = 0; q < Parts; ++q) {
    WideInt best = load<WideInt>(pairs + 16 * q), winner = none, sure = wide_int(-1);
    for (int a = 1; a < m.n_classes; ++a) {
      const WideInt wins = load<WideInt>(pairs + 2 * a * kVoteRows + 16 * q), better = wide_more(best, wins);
      winner = wide_choose(better, wide_int(a), winner);
      best = wide_choose(better, wins, best);
    }
    for (int a = 0; a < m.n_classes; ++a) {
      // The most votes this class may have, as a negative number; ties go to the first class.
      const WideInt most = none - (all + load<WideInt>(pairs + (2 * a + 1) * kVoteRows + 16 * q));
      const WideInt earlier = wide_more(winner, wide_int(a)), later = wide_more(wide_int(a), winner);
      const WideInt behind = wide_choose(later, wide_more(most + wide_int(1), best), wide_int(-1));
      sure = wide_choose(wide_choose(earlier, wide_more(most, best), behind), sure, none);
    }
    store(out.winner + 16 * q, winner);
    store(out.is_sure + 16 * q, sure);
  }
}

// The first `count` lanes of x are rows; `out` has room for the SVM. Kernel values of the rows.
static void vote_values(const BlockSvm& m, const float* x, int count, BlockVotes& out) {
  const bool peak = m.poly.degree > kLowDegree;  // up to it the bound of all bases is tight enough
  if (count <= 16)
    peak ? value_parts<1, true>(m, x, out) : value_parts<1, false>(m, x, out);
  else
    peak ? value_parts<kVoteParts, true>(m, x, out) : value_parts<kVoteParts, false>(m, x, out);
}

// Votes of the pairs from these values; decisions that are not beyond `doubt` from zero are open.
static void vote_pairs(const BlockSvm& m, const float* doubt, int count, BlockVotes& out) {
  count <= 16 ? pair_parts<1>(m, doubt, out) : pair_parts<kVoteParts>(m, doubt, out);
}
