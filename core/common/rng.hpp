// Counter-based random streams keyed by (seed, task ids).
//
// A stream is a key and a counter; value i is mix64(key + i * golden). Nothing is shared between
// streams, so a result never depends on which thread drew first. A child key (a tree of a forest, a
// node of a tree) is derived from its parent's key and its own id: this is what makes the depth-M
// tree the top of a deeper one. tests/test_core_rng.py holds the NumPy reference.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "common/cpu.hpp"

namespace surewood {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;

// The finaliser of SplitMix64: a bijection of 64-bit words that passes the usual test batteries.
SUREWOOD_INLINE std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

inline std::uint64_t child_key(std::uint64_t key, std::uint64_t id) {
  return mix64(mix64(key + kGolden) ^ (id * kGolden + 0x632BE59BD9B4E019ull));
}

inline std::uint64_t stream_key(std::uint64_t seed, std::initializer_list<std::uint64_t> ids) {
  std::uint64_t key = mix64(seed + kGolden);
  for (std::uint64_t id : ids) key = child_key(key, id);
  return key;
}

class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(key) {}

  std::uint64_t next() { return mix64(key_ + ++counter_ * kGolden); }

  // Uniform on {0, ..., n-1}, n >= 1; the bias of the multiply-shift is below n / 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

  // Uniform on [0, 1) with 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  bool coin() { return (next() >> 63) != 0; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace surewood
