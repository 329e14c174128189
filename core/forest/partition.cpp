#include "forest/partition.hpp"

#include <array>

#include "common/cpu.hpp"

namespace surewood {

namespace {

auto number_test(const std::uint8_t* codes, std::uint8_t shift, std::uint8_t test) {
  return [=](std::uint32_t i, const NarrowSample&) -> std::uint32_t {
    return static_cast<std::uint8_t>(codes[i] + shift) <= test;
  };
}

#if defined(SUREWOOD_X86_SETS)
// For each set of four 64-bit lanes: those lanes in order, as pairs of 32-bit lanes. The rest does not matter.
struct alignas(32) Lanes {
  std::uint32_t lane[8];
};
constexpr std::array<Lanes, 16> make_lanes() {
  std::array<Lanes, 16> table{};
  for (std::uint32_t answers = 0; answers < 16; ++answers) {
    std::uint32_t to = 0;
    for (std::uint32_t lane = 0; lane < 4; ++lane)
      if (answers >> lane & 1u) {
        table[answers].lane[to++] = 2 * lane;
        table[answers].lane[to++] = 2 * lane + 1;
      }
  }
  return table;
}
constexpr std::array<Lanes, 16> kLanes = make_lanes();

#include "common/target_avx2.inl"
// Four samples are read before anything is written over them: what went left so far is never longer than what was read.
std::uint32_t partition_avx2(NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes,
                             std::uint8_t shift, std::uint8_t test) {
  const __m256i shifts = _mm256_set1_epi8(static_cast<char>(shift)), tests = _mm256_set1_epi8(static_cast<char>(test));
  const std::uint32_t fours = n & ~3u;
  std::uint32_t left = 0;
  for (std::uint32_t block = 0; block < fours; block += 32) {
    const __m256i code = _mm256_add_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + block)), shifts);
    const __m256i goes_left = _mm256_cmpeq_epi8(_mm256_min_epu8(code, tests), code);
    auto answers = static_cast<std::uint32_t>(_mm256_movemask_epi8(goes_left));
    const std::uint32_t end = fours - block < 32 ? fours : block + 32;
    for (std::uint32_t i = block; i < end; i += 4, answers >>= 4) {
      const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(samples + i));
      const std::uint32_t mine = answers & 15u;
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(samples + left),
          _mm256_permutevar8x32_epi32(four, _mm256_load_si256(reinterpret_cast<const __m256i*>(&kLanes[mine]))));
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(spare + (i - left)),
          _mm256_permutevar8x32_epi32(four, _mm256_load_si256(reinterpret_cast<const __m256i*>(&kLanes[mine ^ 15u]))));
      left += static_cast<std::uint32_t>(__builtin_popcount(mine));
    }
  }
  return partition_samples(samples, n, spare, number_test(codes, shift, test), fours, left);
}
#include "common/target_end.inl"
#endif

}  // namespace

std::uint32_t partition_blocks(NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes,
                               std::uint8_t shift, std::uint8_t test) {
#if defined(SUREWOOD_X86_SETS)
  if (instruction_set() != InstructionSet::kBaseline) return partition_avx2(samples, n, spare, codes, shift, test);
#endif
  return partition_samples(samples, n, spare, number_test(codes, shift, test));
}

}  // namespace surewood
