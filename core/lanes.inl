// Eight lanes of numbers, the same count on every machine.
//
// Included inside a namespace once per instruction set (see svm_targets.cpp), so that the compiler
// lowers the same eight lanes to one, two or four registers. Every reduction below is over exactly
// these lanes with the lowest index winning ties: results do not depend on the register width.

#if defined(__GNUC__) || defined(__clang__)

#define SUREWOOD_INLINE inline __attribute__((always_inline))
typedef double F64 __attribute__((vector_size(64)));
typedef long long I64 __attribute__((vector_size(64)));
typedef float F32 __attribute__((vector_size(32)));
typedef int I32 __attribute__((vector_size(32)));

SUREWOOD_INLINE F64 widen(F32 a) { return __builtin_convertvector(a, F64); }
SUREWOOD_INLINE F32 narrow(F64 a) { return __builtin_convertvector(a, F32); }
SUREWOOD_INLINE I32 to_int(F32 a) { return __builtin_convertvector(a, I32); }
SUREWOOD_INLINE F32 as_float(I32 a) { return (F32)a; }
template <typename Mask, typename Lanes>
SUREWOOD_INLINE Lanes choose(Mask mask, Lanes yes, Lanes no) {
  return mask ? yes : no;
}
template <typename Lanes>
SUREWOOD_INLINE Lanes swap4(Lanes a) {
  return __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
}
template <typename Lanes>
SUREWOOD_INLINE Lanes swap2(Lanes a) {
  return __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
}
template <typename Lanes>
SUREWOOD_INLINE Lanes swap1(Lanes a) {
  return __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
}

#else  // plain arrays: the same lanes for compilers without vector types

#define SUREWOOD_INLINE inline
template <typename T>
struct Eight {
  T at[8];
  T operator[](int i) const { return at[i]; }
};
typedef Eight<double> F64;
typedef Eight<long long> I64;
typedef Eight<float> F32;
typedef Eight<int> I32;
#define SUREWOOD_LANES(op)                                    \
  template <typename T>                                       \
  inline Eight<T> operator op(Eight<T> a, const Eight<T>& b) { \
    for (int l = 0; l < 8; ++l) a.at[l] = a.at[l] op b.at[l];  \
    return a;                                                 \
  }
SUREWOOD_LANES(+)
SUREWOOD_LANES(-)
SUREWOOD_LANES(*)
SUREWOOD_LANES(/)
#undef SUREWOOD_LANES
struct Lanes8Mask {
  bool at[8];
};
#define SUREWOOD_LANES(op)                                                 \
  template <typename T>                                                    \
  inline Lanes8Mask operator op(const Eight<T>& a, const Eight<T>& b) {    \
    Lanes8Mask mask;                                                       \
    for (int l = 0; l < 8; ++l) mask.at[l] = a.at[l] op b.at[l];           \
    return mask;                                                           \
  }
SUREWOOD_LANES(>)
SUREWOOD_LANES(<)
SUREWOOD_LANES(==)
#undef SUREWOOD_LANES
template <typename To, typename From>
inline Eight<To> convert_lanes(const Eight<From>& a) {
  Eight<To> out;
  for (int l = 0; l < 8; ++l) out.at[l] = static_cast<To>(a.at[l]);
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
  for (int l = 0; l < 8; ++l) a.at[l] <<= bits;
  return a;
}
template <typename T>
inline Eight<T> choose(const Lanes8Mask& mask, Eight<T> yes, const Eight<T>& no) {
  for (int l = 0; l < 8; ++l) yes.at[l] = mask.at[l] ? yes.at[l] : no.at[l];
  return yes;
}
template <typename T>
inline Eight<T> swap_lanes(const Eight<T>& a, int distance) {
  Eight<T> out;
  for (int l = 0; l < 8; ++l) out.at[l] = a.at[l ^ distance];
  return out;
}
template <typename Lanes>
inline Lanes swap4(const Lanes& a) {
  return swap_lanes(a, 4);
}
template <typename Lanes>
inline Lanes swap2(const Lanes& a) {
  return swap_lanes(a, 2);
}
template <typename Lanes>
inline Lanes swap1(const Lanes& a) {
  return swap_lanes(a, 1);
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
  T all[8] = {x, x, x, x, x, x, x, x};
  return load<Lanes>(all);
}
SUREWOOD_INLINE I64 count64() {
  const long long all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return load<I64>(all);
}
SUREWOOD_INLINE I32 count32() {
  const int all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  return load<I32>(all);
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
  a = larger(a, swap4(a));
  a = larger(a, swap2(a));
  return larger(a, swap1(a));
}
template <typename Lanes>
SUREWOOD_INLINE Lanes min_of(Lanes a) {
  a = smaller(a, swap4(a));
  a = smaller(a, swap2(a));
  return smaller(a, swap1(a));
}
// The fixed order in which eight partial sums become one.
SUREWOOD_INLINE double sum_of(F64 a) {
  a = a + swap4(a);
  a = a + swap2(a);
  a = a + swap1(a);
  return a[0];
}
