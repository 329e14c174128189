// w log2 w in fixed point, the same integer on every machine.
//
// Library logarithms may differ in the last bit between instruction sets; here a table (small weights) and a
// fixed series of plain operations (large ones) give one answer.
#pragma once

#include <cstdint>

namespace surewood {

constexpr int kLogFraction = 24;           // bits after the binary point; 2^31 * 31 * 2^24 < 2^63
constexpr std::uint32_t kLogTable = 1 << 16;  // weights below this are looked up: half a megabyte

extern const std::int64_t* const weight_log2_table;
std::int64_t weight_log2_series(std::uint32_t w);

// round(w log2 w * 2^24)
inline std::int64_t weight_log2(std::uint32_t w) {
  return w < kLogTable ? weight_log2_table[w] : weight_log2_series(w);
}

}  // namespace surewood
