// Stable partition of a node's samples, left ones first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "split.hpp"

namespace surewood {

// `goes_left(i)` answers for sample i. Both writes always happen and one counter moves: no branch to mispredict.
template <class Sample, class Test>
std::uint32_t partition_samples(Sample* samples, std::uint32_t n, Sample* spare, Test goes_left) {
  std::uint32_t left = 0, right = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Sample sample = samples[i];
    const std::uint32_t is_left = goes_left(i, sample);
    samples[left] = sample;
    spare[right] = sample;
    left += is_left;
    right += 1u - is_left;
  }
  std::copy_n(spare, right, samples + left);
  return left;
}

// By the column of a split.
template <class Sample>
std::uint32_t partition_by_column(Sample* samples, std::uint32_t n, Sample* spare, const ColumnView& column,
                                  const Router& router) {
  if (router.category)
    return partition_samples(samples, n, spare,
                             [&](std::uint32_t, const Sample& s) { return router.set.has(column[s.row]); });
  if (column.stride == 1) {
    const std::uint8_t *codes = column.codes, test = router.test, shift = router.shift;
    return partition_samples(samples, n, spare, [=](std::uint32_t, const Sample& s) {
      return static_cast<std::uint8_t>(codes[s.row] + shift) <= test;
    });
  }
  return partition_samples(samples, n, spare,
                           [&](std::uint32_t, const Sample& s) { return router.number_left(column[s.row]); });
}

// By codes gathered before (in sample order), adding up the left class weights on the way.
template <class Sample>
std::uint32_t partition_by_codes(Sample* samples, std::uint32_t n, Sample* spare, const std::uint8_t* codes,
                                 const Router& router, std::uint32_t* left_counts) {
  const std::uint8_t test = router.test, shift = router.shift;
  if (router.category)
    return partition_samples(samples, n, spare, [&](std::uint32_t i, const Sample& s) {
      const std::uint32_t is_left = router.set.has(codes[i]);
      left_counts[s.label] += s.weight * is_left;
      return is_left;
    });
  return partition_samples(samples, n, spare, [=](std::uint32_t i, const Sample& s) -> std::uint32_t {
    const std::uint32_t is_left = static_cast<std::uint8_t>(codes[i] + shift) <= test;
    left_counts[s.label] += s.weight * is_left;
    return is_left;
  });
}

}  // namespace surewood
