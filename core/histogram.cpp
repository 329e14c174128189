#include "histogram.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SUREWOOD_INLINE inline __attribute__((always_inline))
#else
#define SUREWOOD_INLINE inline
#endif

namespace surewood {

HistogramScratch::HistogramScratch() {
  const std::size_t bytes = kBatch * (kCellBytes + 256 + 1024) + kCellBytes;
  memory_ = std::make_unique<std::uint8_t[]>(bytes + 64);  // zeroed
  base_ = memory_.get() + (64 - reinterpret_cast<std::uintptr_t>(memory_.get()) % 64) % 64;
}

namespace {

SUREWOOD_INLINE std::uint32_t lowest_bit(std::uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
  return static_cast<std::uint32_t>(__builtin_ctzll(bits));
#else
  std::uint32_t at = 0;
  for (; !(bits & 1u); bits >>= 1) ++at;
  return at;
#endif
}

// Bit k is the sign bit of byte k, for 64 bytes.
SUREWOOD_INLINE std::uint64_t sign_bits(const std::uint8_t* bytes) {
  std::uint64_t bits = 0;
#if defined(__SSE2__)
  for (int part = 0; part < 4; ++part) {
    __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
    bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(sixteen))) << (16 * part);
  }
#else
  for (int k = 0; k < 64; ++k) bits |= static_cast<std::uint64_t>(bytes[k] >> 7) << k;
#endif
  return bits;
}

namespace baseline {
#define SUREWOOD_TARGET
#include "histogram_kernel.inl"
#undef SUREWOOD_TARGET
}  // namespace baseline

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SUREWOOD_DISPATCH 1
namespace avx2 {
#define SUREWOOD_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "histogram_kernel.inl"
#undef SUREWOOD_TARGET
}  // namespace avx2
namespace avx512 {
#define SUREWOOD_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")))
#include "histogram_kernel.inl"
#undef SUREWOOD_TARGET
}  // namespace avx512
#endif

const char kSet = instruction_set()[3];  // 'avx2' -> '2', 'avx512' -> '5', 'baseline' -> 'e'

}  // namespace

template <class Sample>
void histogram_batch(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                     HistogramScratch& histograms, SplitScratch& scratch, Split& best, bool* varies) {
#if defined(SUREWOOD_DISPATCH)
  if (kSet == '5') return avx512::batch(node, features, n_features, histograms, scratch, best, varies);
  if (kSet == '2') return avx2::batch(node, features, n_features, histograms, scratch, best, varies);
#endif
  baseline::batch(node, features, n_features, histograms, scratch, best, varies);
}

template void histogram_batch<NarrowSample>(const NodeView<NarrowSample>&, const BatchFeature*, int,
                                            HistogramScratch&, SplitScratch&, Split&, bool*);
template void histogram_batch<WideSample>(const NodeView<WideSample>&, const BatchFeature*, int, HistogramScratch&,
                                          SplitScratch&, Split&, bool*);

}  // namespace surewood
