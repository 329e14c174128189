// The scan of the histograms, compiled for baseline, AVX2 and AVX-512 and chosen at run time. Integer sums
// and IEEE divisions make the result independent of that choice.
#include "forest/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace surewood {

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

constexpr std::uint32_t kCutsTogether = 8;  // scored at a time

#if defined(__SSE2__)
// The sum of the four lanes of each of four vectors.
SUREWOOD_INLINE __m128i four_sums(const __m128i* v) {
  const __m128i a = _mm_add_epi32(_mm_unpacklo_epi32(v[0], v[1]), _mm_unpackhi_epi32(v[0], v[1]));
  const __m128i b = _mm_add_epi32(_mm_unpacklo_epi32(v[2], v[3]), _mm_unpackhi_epi32(v[2], v[3]));
  return _mm_add_epi32(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
}
#endif

#define SUREWOOD_KERNEL "forest/histogram_sweep.inl"
#include "common/all_sets.inl"

}  // namespace

std::uint32_t sweep_histograms(const NodeShape& node, const BatchFeature* features, int n_features, Seen seen,
                               HistogramScratch& histograms, const std::uint64_t* word, SplitScratch& scratch,
                               Split& best) {
#if defined(SUREWOOD_X86_SETS)
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::kAvx512)
    return avx512::sweep(node, features, n_features, seen, histograms, word, scratch, best);
  if (set == InstructionSet::kAvx2)
    return avx2::sweep(node, features, n_features, seen, histograms, word, scratch, best);
#endif
  return baseline::sweep(node, features, n_features, seen, histograms, word, scratch, best);
}

}  // namespace surewood
