// Lanes of numbers: as many doubles as one register of the instruction set holds.
//
// Included inside a namespace once per instruction set with SUREWOOD_LANES set to 8, 4 or 2 (see
// svm_targets.cpp). The passes only ever compute lane by lane and look for the extreme element with the
// lowest index, so no result depends on the width.

#if defined(__GNUC__) || defined(__clang__)

#define SUREWOOD_INLINE inline __attribute__((always_inline))
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

#define SUREWOOD_INLINE inline
template <typename T>
struct Several {
  T at[SUREWOOD_LANES];
  T operator[](int i) const { return at[i]; }
};
typedef Several<double> F64;
typedef Several<long long> I64;
typedef Several<float> F32;
typedef Several<int> I32;
#define SUREWOOD_EACH(op)                                    \
  template <typename T>                                       \
  inline Several<T> operator op(Several<T> a, const Several<T>& b) { \
    for (int l = 0; l < SUREWOOD_LANES; ++l) a.at[l] = a.at[l] op b.at[l];  \
    return a;                                                 \
  }
SUREWOOD_EACH(+)
SUREWOOD_EACH(-)
SUREWOOD_EACH(*)
SUREWOOD_EACH(/)
#undef SUREWOOD_EACH
struct LanesMask {
  bool at[SUREWOOD_LANES];
};
#define SUREWOOD_EACH(op)                                                 \
  template <typename T>                                                    \
  inline LanesMask operator op(const Several<T>& a, const Several<T>& b) {    \
    LanesMask mask;                                                       \
    for (int l = 0; l < SUREWOOD_LANES; ++l) mask.at[l] = a.at[l] op b.at[l];           \
    return mask;                                                           \
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
template <typename Lanes>
SUREWOOD_INLINE Lanes larger(Lanes a, Lanes b) {
  return choose(a > b, a, b);
}
template <typename Lanes>
SUREWOOD_INLINE Lanes smaller(Lanes a, Lanes b) {
  return choose(a < b, a, b);
}
template <typename Lanes>
SUREWOOD_INLINE Lanes max_of(Lanes a) {
  a = larger(a, swapped<4>(a));
  a = larger(a, swapped<2>(a));
  return larger(a, swapped<1>(a));
}
template <typename Lanes>
SUREWOOD_INLINE Lanes min_of(Lanes a) {
  a = smaller(a, swapped<4>(a));
  a = smaller(a, swapped<2>(a));
  return smaller(a, swapped<1>(a));
}
