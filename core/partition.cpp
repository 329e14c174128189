#include "partition.hpp"

#include <array>

#include "cpu.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#define SUREWOOD_DISPATCH 1
#endif

namespace surewood {

namespace {

std::uint32_t finish_plain(NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes,
                           std::uint8_t shift, std::uint8_t test, std::uint32_t begin, std::uint32_t left) {
  std::uint32_t right = begin - left;
  for (std::uint32_t i = begin; i < n; ++i) {
    const NarrowSample sample = samples[i];
    const std::uint32_t is_left = static_cast<std::uint8_t>(codes[i] + shift) <= test;
    samples[left] = sample;
    spare[right] = sample;
    left += is_left;
    right += 1u - is_left;
  }
  copy_few(spare, right, samples + left);
  return left;
}

#if defined(SUREWOOD_DISPATCH)
// Where the four 64-bit lanes go for each set of four answers: those asked for first, in order, as pairs of 32-bit lanes.
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

__attribute__((target("avx2,bmi,bmi2,popcnt"))) std::uint32_t partition_avx2(
    NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes, std::uint8_t shift,
    std::uint8_t test) {
  const __m256i shifts = _mm256_set1_epi8(static_cast<char>(shift)), tests = _mm256_set1_epi8(static_cast<char>(test));
  const std::uint32_t fours = n & ~3u;
  std::uint32_t left = 0;
  for (std::uint32_t block = 0; block < fours; block += 32) {
    const __m256i code = _mm256_add_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + block)), shifts);
    auto answers = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(code, tests), code)));
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
  return finish_plain(samples, n, spare, codes, shift, test, fours, left);
}
#endif

}  // namespace

std::uint32_t partition_narrow(NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes,
                               std::uint8_t shift, std::uint8_t test) {
#if defined(SUREWOOD_DISPATCH)
  if (tree_instruction_set() != InstructionSet::kBaseline) return partition_avx2(samples, n, spare, codes, shift, test);
#endif
  return finish_plain(samples, n, spare, codes, shift, test, 0, 0);
}

}  // namespace surewood
