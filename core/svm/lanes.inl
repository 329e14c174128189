// Lanes of numbers: as many doubles as one register of the instruction set holds.
//
// Included inside a namespace once per instruction set with SUREWOOD_LANES set to 8, 4 or 2 (see
// svm/targets.cpp). The passes only ever compute lane by lane and look for the extreme element with the
// lowest index, so no result depends on the width.

#if defined(__GNUC__) || defined(__clang__)

SUREWOOD_INLINE int lowest_bit(unsigned bits) { return __builtin_ctz(bits); }
SUREWOOD_INLINE int count_bits(unsigned bits) { return __builtin_popcount(bits); }
SUREWOOD_INLINE int lowest_bit64(unsigned long long bits) { return bits ? __builtin_ctzll(bits) : 64; }
typedef double F64 __attribute__((vector_size(8 * SUREWOOD_LANES)));
typedef long long I64 __attribute__((vector_size(8 * SUREWOOD_LANES)));
typedef float F32 __attribute__((vector_size(4 * SUREWOOD_LANES)));
typedef int I32 __attribute__((vector_size(4 * SUREWOOD_LANES)));

#if SUREWOOD_LANES == 8
SUREWOOD_INLINE F64 widen(F32 a) { return (F64)_mm512_maskz_cvtps_pd(0xFF, (__m256)a); }  // the generic form is split
#else
SUREWOOD_INLINE F64 widen(F32 a) { return __builtin_convertvector(a, F64); }
#endif
SUREWOOD_INLINE F32 narrow(F64 a) { return __builtin_convertvector(a, F32); }
SUREWOOD_INLINE I32 to_int(F32 a) { return __builtin_convertvector(a, I32); }
SUREWOOD_INLINE F32 as_float(I32 a) { return (F32)a; }
template <typename Mask, typename Lanes>
SUREWOOD_INLINE Lanes choose(Mask mask, Lanes yes, Lanes no) {
  return mask ? yes : no;
}
// Two numbers side by side, for what is done to two points at once.
typedef double Two __attribute__((vector_size(16)));
SUREWOOD_INLINE Two two(double a, double b) { return Two{a, b}; }
// A bit for each of the two where a < b.
SUREWOOD_INLINE unsigned less_bits(Two a, Two b) {
#if defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_pd((__m128d)(a < b)));
#else
  return (a[0] < b[0] ? 1u : 0u) | (a[1] < b[1] ? 2u : 0u);
#endif
}
#if SUREWOOD_LANES >= 4
// Four numbers side by side, one of each of four problems, and words of bits of them.
typedef double Four __attribute__((vector_size(32)));
typedef float FourFloats __attribute__((vector_size(16)));
typedef unsigned long long FourWords __attribute__((vector_size(32)));
SUREWOOD_INLINE Four four(double a, double b, double c, double d) { return Four{a, b, c, d}; }
SUREWOOD_INLINE Four four(double x) { return Four{x, x, x, x}; }
SUREWOOD_INLINE Four widened(FourFloats a) { return (Four)_mm256_cvtps_pd((__m128)a); }  // the generic form is split
// Words with one bit set, at the places given.
SUREWOOD_INLINE FourWords bits_at(FourWords places) { return FourWords{1, 1, 1, 1} << places; }
SUREWOOD_INLINE bool all_at_least(Four a, Four b) { return _mm256_movemask_pd((__m256d)(a >= b)) == 15; }
// The words where a < b, zero elsewhere.
SUREWOOD_INLINE FourWords words_where_less(Four a, Four b, FourWords words) { return (FourWords)(a < b) & words; }
#endif
// A bit for every lane where a == b.
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE unsigned equal_bits(F64 a, F64 b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ); }
SUREWOOD_INLINE unsigned equal_bits(F32 a, F32 b) { return _mm256_cmp_ps_mask((__m256)a, (__m256)b, _CMP_EQ_OQ); }
SUREWOOD_INLINE unsigned less_bits(F64 a, F64 b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ); }
#elif SUREWOOD_LANES == 4
SUREWOOD_INLINE unsigned equal_bits(F64 a, F64 b) {
  return static_cast<unsigned>(_mm256_movemask_pd((__m256d)(a == b)));
}
SUREWOOD_INLINE unsigned equal_bits(F32 a, F32 b) { return static_cast<unsigned>(_mm_movemask_ps((__m128)(a == b))); }
#else
template <typename Lanes>
SUREWOOD_INLINE unsigned equal_bits(Lanes a, Lanes b) {
  unsigned bits = 0;
  for (int l = 0; l < SUREWOOD_LANES; ++l) bits |= (a[l] == b[l] ? 1u : 0u) << l;
  return bits;
}
#endif
#if SUREWOOD_LANES == 4
SUREWOOD_INLINE unsigned less_bits(F64 a, F64 b) { return static_cast<unsigned>(_mm256_movemask_pd((__m256d)(a < b))); }
#endif
#if SUREWOOD_LANES == 8
#define SUREWOOD_SWAP4 4, 5, 6, 7, 0, 1, 2, 3
#define SUREWOOD_SWAP2 2, 3, 0, 1, 6, 7, 4, 5
#define SUREWOOD_SWAP1 1, 0, 3, 2, 5, 4, 7, 6
#elif SUREWOOD_LANES == 4
#define SUREWOOD_SWAP2 2, 3, 0, 1
#define SUREWOOD_SWAP1 1, 0, 3, 2
#else
#define SUREWOOD_SWAP1 1, 0
#endif
// The lanes in another order, each `distance` away from where it was.
template <int Distance, typename Lanes>
SUREWOOD_INLINE Lanes swapped(Lanes a) {
#if SUREWOOD_LANES >= 8
  if constexpr (Distance == 4) return __builtin_shufflevector(a, a, SUREWOOD_SWAP4);
#endif
#if SUREWOOD_LANES >= 4
  if constexpr (Distance == 2) return __builtin_shufflevector(a, a, SUREWOOD_SWAP2);
#endif
  if constexpr (Distance == 1) return __builtin_shufflevector(a, a, SUREWOOD_SWAP1);
  return a;
}
#undef SUREWOOD_SWAP4
#undef SUREWOOD_SWAP2
#undef SUREWOOD_SWAP1

#else  // plain arrays: the same lanes for compilers without vector types

inline int lowest_bit64(unsigned long long bits) {
  int place = 0;
  while (place < 64 && !(bits >> place & 1u)) ++place;
  return place;
}
inline int lowest_bit(unsigned bits) { return lowest_bit64(bits); }
inline int count_bits(unsigned bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) ++count;
  return count;
}
template <typename T>
struct Several {
  T at[SUREWOOD_LANES];
  T operator[](int i) const { return at[i]; }
};
typedef Several<double> F64;
typedef Several<long long> I64;
typedef Several<float> F32;
typedef Several<int> I32;
#define SUREWOOD_EACH(op)                                                  \
  template <typename T>                                                    \
  inline Several<T> operator op(Several<T> a, const Several<T>& b) {       \
    for (int l = 0; l < SUREWOOD_LANES; ++l) a.at[l] = a.at[l] op b.at[l]; \
    return a;                                                              \
  }
SUREWOOD_EACH(+)
SUREWOOD_EACH(-)
SUREWOOD_EACH(*)
SUREWOOD_EACH(/)
#undef SUREWOOD_EACH
struct LanesMask {
  bool at[SUREWOOD_LANES];
};
#define SUREWOOD_EACH(op)                                                     \
  template <typename T>                                                       \
  inline LanesMask operator op(const Several<T>& a, const Several<T>& b) {    \
    LanesMask mask;                                                           \
    for (int l = 0; l < SUREWOOD_LANES; ++l) mask.at[l] = a.at[l] op b.at[l]; \
    return mask;                                                              \
  }
SUREWOOD_EACH(>)
SUREWOOD_EACH(<)
SUREWOOD_EACH(==)
#undef SUREWOOD_EACH
template <typename To, typename From>
inline Several<To> convert_lanes(const Several<From>& a) {
  Several<To> out;
  for (int l = 0; l < SUREWOOD_LANES; ++l) out.at[l] = static_cast<To>(a.at[l]);
  return out;
}
inline F64 widen(const F32& a) { return convert_lanes<double>(a); }
inline F32 narrow(const F64& a) { return convert_lanes<float>(a); }
inline I32 to_int(const F32& a) { return convert_lanes<int>(a); }
inline F32 as_float(const I32& a) {
  F32 out;
  std::memcpy(&out, &a, sizeof out);
  return out;
}
inline I32 operator<<(I32 a, int bits) {
  for (int l = 0; l < SUREWOOD_LANES; ++l) a.at[l] <<= bits;
  return a;
}
template <typename T>
inline Several<T> choose(const LanesMask& mask, Several<T> yes, const Several<T>& no) {
  for (int l = 0; l < SUREWOOD_LANES; ++l) yes.at[l] = mask.at[l] ? yes.at[l] : no.at[l];
  return yes;
}
typedef F64 Two;  // such compilers have the baseline set only: two lanes
inline Two two(double a, double b) { return {{a, b}}; }
inline unsigned less_bits(const Two& a, const Two& b) { return (a[0] < b[0] ? 1u : 0u) | (a[1] < b[1] ? 2u : 0u); }
template <typename T>
inline unsigned equal_bits(const Several<T>& a, const Several<T>& b) {
  unsigned bits = 0;
  for (int l = 0; l < SUREWOOD_LANES; ++l) bits |= (a.at[l] == b.at[l] ? 1u : 0u) << l;
  return bits;
}
template <int Distance, typename T>
inline Several<T> swapped(const Several<T>& a) {
  Several<T> out;
  for (int l = 0; l < SUREWOOD_LANES; ++l) out.at[l] = a.at[(l ^ Distance) % SUREWOOD_LANES];
  return out;
}

#endif

template <typename Lanes, typename T>
SUREWOOD_INLINE Lanes load(const T* at) {
  Lanes out;
  std::memcpy(&out, at, sizeof out);
  return out;
}
template <typename Lanes, typename T>
SUREWOOD_INLINE void store(T* at, Lanes lanes) {
  std::memcpy(at, &lanes, sizeof lanes);
}
template <typename Lanes, typename T>
SUREWOOD_INLINE Lanes splat(T x) {
  T all[SUREWOOD_LANES];
  for (int l = 0; l < SUREWOOD_LANES; ++l) all[l] = x;
  return load<Lanes>(all);
}
template <typename Lanes, typename T>
SUREWOOD_INLINE Lanes counting() {
  T all[SUREWOOD_LANES];
  for (int l = 0; l < SUREWOOD_LANES; ++l) all[l] = static_cast<T>(l);
  return load<Lanes>(all);
}
#if SUREWOOD_LANES == 8
// b where one of them is NaN; the forms without a mask draw a warning.
SUREWOOD_INLINE F64 larger(F64 a, F64 b) { return (F64)_mm512_maskz_max_pd(0xFF, (__m512d)a, (__m512d)b); }
SUREWOOD_INLINE F64 smaller(F64 a, F64 b) { return (F64)_mm512_maskz_min_pd(0xFF, (__m512d)a, (__m512d)b); }
SUREWOOD_INLINE F32 larger(F32 a, F32 b) { return (F32)_mm256_max_ps((__m256)a, (__m256)b); }
SUREWOOD_INLINE F32 smaller(F32 a, F32 b) { return (F32)_mm256_min_ps((__m256)a, (__m256)b); }
#endif
template <typename Lanes>
SUREWOOD_INLINE Lanes larger(Lanes a, Lanes b) {
  return choose(a > b, a, b);
}
template <typename Lanes>
SUREWOOD_INLINE Lanes smaller(Lanes a, Lanes b) {
  return choose(a < b, a, b);
}
// The extreme of all lanes.
#if SUREWOOD_LANES == 8
// A half register costs half as much, so it is halved first.
SUREWOOD_INLINE double max_lane(F64 a) {
  const __m256d half = _mm256_max_pd((__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3),
                                     (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7));
  const __m128d pair = _mm_max_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
  return _mm_cvtsd_f64(_mm_max_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
SUREWOOD_INLINE double min_lane(F64 a) {
  const __m256d half = _mm256_min_pd((__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3),
                                     (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7));
  const __m128d pair = _mm_min_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
  return _mm_cvtsd_f64(_mm_min_sd(pair, _mm_unpackhi_pd(pair, pair)));
}
SUREWOOD_INLINE float max_lane(F32 a) {
  const __m128 half = _mm_max_ps(_mm256_castps256_ps128((__m256)a), _mm256_extractf128_ps((__m256)a, 1));
  const __m128 pair = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(pair, _mm_movehdup_ps(pair)));
}
#else
template <typename Lanes>
SUREWOOD_INLINE auto max_lane(Lanes a) {
  a = larger(a, swapped<4>(a));
  a = larger(a, swapped<2>(a));
  return larger(a, swapped<1>(a))[0];
}
template <typename Lanes>
SUREWOOD_INLINE auto min_lane(Lanes a) {
  a = smaller(a, swapped<4>(a));
  a = smaller(a, swapped<2>(a));
  return smaller(a, swapped<1>(a))[0];
}
#endif

// The extremes of all lanes, of four registers at once.
#if SUREWOOD_LANES >= 4
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE __m256d larger_half(F64 a) {
  return _mm256_max_pd((__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3),
                       (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7));
}
SUREWOOD_INLINE __m256d smaller_half(F64 a) {
  return _mm256_min_pd((__m256d)__builtin_shufflevector(a, a, 0, 1, 2, 3),
                       (__m256d)__builtin_shufflevector(a, a, 4, 5, 6, 7));
}
#else
SUREWOOD_INLINE __m256d larger_half(F64 a) { return (__m256d)a; }
SUREWOOD_INLINE __m256d smaller_half(F64 a) { return (__m256d)a; }
#endif
SUREWOOD_INLINE Four max_lanes(const F64* of) {
  const __m256d a = larger_half(of[0]), b = larger_half(of[1]), c = larger_half(of[2]), d = larger_half(of[3]);
  const __m256d ab = _mm256_max_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
  const __m256d cd = _mm256_max_pd(_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
  return (Four)_mm256_max_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}
SUREWOOD_INLINE Four min_lanes(const F64* of) {
  const __m256d a = smaller_half(of[0]), b = smaller_half(of[1]), c = smaller_half(of[2]), d = smaller_half(of[3]);
  const __m256d ab = _mm256_min_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
  const __m256d cd = _mm256_min_pd(_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
  return (Four)_mm256_min_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE __m128 larger_half(F32 a) {
  return _mm_max_ps(_mm256_castps256_ps128((__m256)a), _mm256_extractf128_ps((__m256)a, 1));
}
#else
SUREWOOD_INLINE __m128 larger_half(F32 a) { return (__m128)a; }
#endif
SUREWOOD_INLINE FourFloats max_lanes(const F32* of) {
  const __m128 a = larger_half(of[0]), b = larger_half(of[1]), c = larger_half(of[2]), d = larger_half(of[3]);
  const __m128 ab = _mm_max_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));  // a b a b
  const __m128 cd = _mm_max_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
  return (FourFloats)_mm_max_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
}
#endif

// v where its bit is set; elsewhere what no search for a largest (smallest) value takes.
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE F64 can_rise(F64 v, unsigned bits) {
  return (F64)_mm512_mask_blend_pd(static_cast<__mmask8>(bits), (__m512d)splat<F64>(-HUGE_VAL), (__m512d)v);
}
SUREWOOD_INLINE F64 can_fall(F64 v, unsigned bits) {
  return (F64)_mm512_mask_blend_pd(static_cast<__mmask8>(bits), (__m512d)splat<F64>(HUGE_VAL), (__m512d)v);
}
#else
struct Closed {
  double of[1 << SUREWOOD_LANES][SUREWOOD_LANES];  // 0 where the bit is set
};
constexpr Closed closed_at(double value) {
  Closed table{};
  for (int bits = 0; bits < 1 << SUREWOOD_LANES; ++bits)
    for (int l = 0; l < SUREWOOD_LANES; ++l) table.of[bits][l] = bits >> l & 1 ? 0.0 : value;
  return table;
}
alignas(64) constexpr Closed kClosedLow = closed_at(-HUGE_VAL), kClosedHigh = closed_at(HUGE_VAL);
SUREWOOD_INLINE F64 can_rise(F64 v, unsigned bits) {
  return v + load<F64>(kClosedLow.of[bits & ((1u << SUREWOOD_LANES) - 1)]);
}
SUREWOOD_INLINE F64 can_fall(F64 v, unsigned bits) {
  return v + load<F64>(kClosedHigh.of[bits & ((1u << SUREWOOD_LANES) - 1)]);
}
#endif

// The larger of v and `best` where the bit is set, elsewhere `best`.
#if SUREWOOD_LANES == 8
SUREWOOD_INLINE F64 larger_where(unsigned bits, F64 v, F64 best) {
  return (F64)_mm512_mask_max_pd((__m512d)best, static_cast<__mmask8>(bits), (__m512d)v, (__m512d)best);
}
#else
SUREWOOD_INLINE F64 larger_where(unsigned bits, F64 v, F64 best) { return larger(can_rise(v, bits), best); }
#endif

// Where candidates are larger they take the value's place, and `at` that of `where`.
template <typename Values, typename Numbers>
SUREWOOD_INLINE void keep_larger(Values& value, Numbers& where, Values candidate, Numbers at) {
  const auto better = candidate > value;
  value = choose(better, candidate, value);
  where = choose(better, at, where);
}
// Places of doubles; half registers cost half as much.
#if SUREWOOD_LANES == 8
typedef int Place;
typedef I32 Places;
SUREWOOD_INLINE void keep_larger(F64& value, Places& where, F64 candidate, Places at) {
  const __mmask8 better = _mm512_cmp_pd_mask((__m512d)candidate, (__m512d)value, _CMP_GT_OQ);
  value = larger(candidate, value);
  where = (Places)_mm256_mask_mov_epi32((__m256i)where, better, (__m256i)at);
}
#else
typedef long long Place;
typedef I64 Places;
#endif
