// Filling histograms is scalar work, bound by loads and stores: compiled for baseline and for machines with cheap shifts
// (BMI2, there with AVX2). Scanning them is compiled for baseline, AVX2 and AVX-512. Integer sums and IEEE divisions make
// the result independent of that choice.
#include "forest/histogram.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace surewood {

HistogramScratch::HistogramScratch() {
  const std::size_t bytes = (kBatch + 1) * kCellBytes + kBatch * (256 + 1024);
  memory_.reset(static_cast<std::uint8_t*>(std::calloc(bytes + 64, 1)));  // only pages in use are ever touched
  if (!memory_) throw std::bad_alloc();
  base_ = memory_.get() + (64 - reinterpret_cast<std::uintptr_t>(memory_.get()) % 64) % 64;
}

namespace {

namespace baseline {
#include "forest/histogram_fill.inl"
}  // namespace baseline

#if defined(SUREWOOD_X86_SETS)
#include "common/target_avx2.inl"
namespace avx2 {
#include "forest/histogram_fill.inl"
}  // namespace avx2
#include "common/target_end.inl"
#endif

}  // namespace

template <class Sample>
void fill_histograms(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
                     HistogramScratch& histograms, std::uint64_t* word) {
#if defined(SUREWOOD_X86_SETS)
  if (instruction_set() != InstructionSet::kBaseline)
    return avx2::fill_any(node, features, n_features, seen, histograms, word);
#endif
  baseline::fill_any(node, features, n_features, seen, histograms, word);
}

template void fill_histograms<NarrowSample>(const NodeView<NarrowSample>&, const BatchFeature*, int, Seen,
                                            HistogramScratch&, std::uint64_t*);
template void fill_histograms<WideSample>(const NodeView<WideSample>&, const BatchFeature*, int, Seen,
                                          HistogramScratch&, std::uint64_t*);

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
