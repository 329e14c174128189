// Stable partition of a node's samples, left ones first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "forest/split.hpp"

namespace surewood {

// Copies `n` values, usually few: no call into the library, whose start costs more than the copy.
template <class T>
inline void copy_few(const T* from, std::uint32_t n, T* to) {
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(T));
  if (n & 2u) {
    std::memcpy(to + i, from + i, 2 * sizeof(T));
    i += 2;
  }
  if (n & 1u) to[i] = from[i];
}

// `goes_left(i, sample)` answers for sample i. Both writes always happen and one counter moves: no branch to
// mispredict. The first `begin` samples may be done already, `left` of them at the front and the others in `spare`.
template <class Sample, class Test>
std::uint32_t partition_samples(Sample* samples, std::uint32_t n, Sample* spare, Test goes_left,
                                std::uint32_t begin = 0, std::uint32_t left = 0) {
  std::uint32_t right = begin - left;
  for (std::uint32_t i = begin; i < n; ++i) {
    const Sample sample = samples[i];
    const std::uint32_t is_left = goes_left(i, sample);
    samples[left] = sample;
    spare[right] = sample;
    left += is_left;
    right += 1u - is_left;
  }
  copy_few(spare, right, samples + left);
  return left;
}

// By the column of a split.
template <class Sample>
std::uint32_t partition_by_column(Sample* samples, std::uint32_t n, Sample* spare, const ColumnView& column,
                                  const Router& router) {
  if (router.category)
    return partition_samples(samples, n, spare,
                             [&](std::uint32_t, const Sample& s) { return router.set.has(column[s.row()]); });
  if (column.stride == 1) {
    const std::uint8_t *codes = column.codes, test = router.test, shift = router.shift;
    return partition_samples(samples, n, spare, [=](std::uint32_t, const Sample& s) {
      return static_cast<std::uint8_t>(codes[s.row()] + shift) <= test;
    });
  }
  return partition_samples(samples, n, spare,
                           [&](std::uint32_t, const Sample& s) { return router.number_left(column[s.row()]); });
}

// By the codes of a number, four samples at a time where the machine can; for kMinBlocks samples and more.
constexpr std::uint32_t kMinBlocks = 16;
std::uint32_t partition_blocks(NarrowSample* samples, std::uint32_t n, NarrowSample* spare, const std::uint8_t* codes,
                               std::uint8_t shift, std::uint8_t test);

// By codes gathered before, in sample order; kCodePadding bytes past the last one are read, too.
constexpr std::uint32_t kCodePadding = 32;
template <class Sample>
std::uint32_t partition_by_codes(Sample* samples, std::uint32_t n, Sample* spare, const std::uint8_t* codes,
                                 const Router& router) {
  const std::uint8_t test = router.test, shift = router.shift;
  if (router.category)
    return partition_samples(samples, n, spare,
                             [&](std::uint32_t i, const Sample&) { return router.set.has(codes[i]); });
  if constexpr (std::is_same_v<Sample, NarrowSample>)
    if (n >= kMinBlocks) return partition_blocks(samples, n, spare, codes, shift, test);
  return partition_samples(samples, n, spare, [=](std::uint32_t i, const Sample&) -> std::uint32_t {
    return static_cast<std::uint8_t>(codes[i] + shift) <= test;
  });
}

}  // namespace surewood
