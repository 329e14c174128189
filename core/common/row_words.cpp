#include "common/row_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cpu.hpp"
#include "common/rng.hpp"

namespace surewood {

namespace {

constexpr int kLeastPower = -300, kMostPower = 308;  // of ten: smaller numbers are rounded like 1e-300
constexpr double kLeastSingle = 1e-37, kMostSingle = 1e38;
constexpr double kTwoTo52 = 4503599627370496.0;
constexpr std::uint64_t kTwoTo52Bits = 0x4330000000000000ull;
constexpr std::uint64_t kSizeBits = 0x7FFFFFFFFFFFFFFFull, kInfinityBits = 0x7FF0000000000000ull;
constexpr std::uint64_t kMissingWord = 0x6E616Eull, kInfiniteWord = 0x696E66ull;
constexpr std::size_t kBlockColumns = 32;  // whose tables of bytes stay in the cache together

SUREWOOD_INLINE std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

SUREWOOD_INLINE double number_of(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double power_of_ten(int exponent) {
  static const std::vector<double> powers = [] {
    std::vector<double> all;
    for (int e = -kMostPower - 1; e <= kMostPower; ++e)
      all.push_back(std::strtod(("1e" + std::to_string(e)).c_str(), nullptr));
    return all;
  }();
  return powers[static_cast<std::size_t>(exponent + kMostPower + 1)];
}

// The decimal exponent of numbers by their binary one, and what brings their digits before the point.
struct Decimals {
  double next_power[2048];     // the power of ten that may lie among the numbers of a binary exponent
  std::uint64_t place[2048];   // decimal exponent, plus 300, of those below it
  double scale[kMostPower - kLeastPower + 2];
  std::uint64_t top, top_tenth;
  double unit;

  explicit Decimals(int digits) {
    for (int place_of = 0; place_of <= kMostPower - kLeastPower + 1; ++place_of)
      scale[place_of] = power_of_ten(-(place_of + kLeastPower));
    int power = kLeastPower;
    for (std::uint64_t exponent = 0; exponent < 2048; ++exponent) {
      const double least = exponent == 2047 ? INFINITY : number_of(exponent << 52);
      while (power < kMostPower && power_of_ten(power + 1) <= least) ++power;
      next_power[exponent] = power < kMostPower ? power_of_ten(power + 1) : INFINITY;
      place[exponent] = static_cast<std::uint64_t>(power - kLeastPower);
    }
    unit = power_of_ten(digits - 1);
    top = static_cast<std::uint64_t>(power_of_ten(digits));
    top_tenth = top / 10;
  }
};

namespace baseline {
#include "common/row_words.inl"
}  // namespace baseline

#if defined(SUREWOOD_X86_SETS)
#include "common/target_avx2.inl"
namespace avx2 {
#include "common/row_words.inl"
}  // namespace avx2
#include "common/target_end.inl"

#include "common/target_avx512.inl"
namespace avx512 {
#include "common/row_words.inl"
}  // namespace avx512
#include "common/target_end.inl"
#endif

bool add_finite_any(const double* values, std::size_t n, const Decimals& decimals, std::uint64_t key,
                    std::uint64_t* out) {
#if defined(SUREWOOD_X86_SETS)
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::kAvx512) return avx512::add_finite(values, n, decimals, key, out);
  if (set == InstructionSet::kAvx2) return avx2::add_finite(values, n, decimals, key, out);
#endif
  return baseline::add_finite(values, n, decimals, key, out);
}

void add_words(const double* values, std::size_t n, const Decimals& decimals, std::uint64_t key, std::uint64_t* out) {
  if (add_finite_any(values, n, decimals, key, out)) return;
  for (std::size_t i = 0; i < n; ++i)
    if (std::isnan(values[i]))
      out[i] += mix64(kMissingWord + key);
    else if (std::isinf(values[i]))
      out[i] += mix64(kInfiniteWord + (values[i] < 0.0 ? 1 : 0) + key);
    else
      add_finite_any(values + i, 1, decimals, key, out + i);
}

// Numbers of one byte have 256 words per column.
template <class Number>
void add_byte_words(const NumberView<Number>& view, std::size_t n_columns, const std::uint64_t* key,
                    const Decimals& decimals, std::uint64_t* out) {
  double numbers[256];
  for (int byte = 0; byte < 256; ++byte) numbers[byte] = static_cast<double>(static_cast<Number>(byte));
  std::vector<std::uint64_t> words;
  for (std::size_t first = 0; first < n_columns; first += kBlockColumns) {
    const std::size_t width = std::min(kBlockColumns, n_columns - first);
    words.assign(width * 256, 0);
    for (std::size_t c = 0; c < width; ++c) add_words(numbers, 256, decimals, key[first + c], words.data() + c * 256);
    for (std::size_t row = 0; row < view.n_rows; row += kTileRows)
      for (std::size_t c = 0; c < width; ++c) {
        const Number* from = view.at(row, first + c);
        const std::uint64_t* own = words.data() + c * 256;
        const std::size_t n = std::min(kTileRows, view.n_rows - row);
        for (std::size_t i = 0; i < n; ++i)
          out[row + i] += own[static_cast<std::uint8_t>(from[static_cast<std::ptrdiff_t>(i) * view.row_stride])];
      }
  }
}

}  // namespace

template <class Number>
void add_row_words(const NumberView<Number>& view, std::size_t n_columns, const std::uint64_t* key, int digits,
                   std::uint64_t* out) {
  const Decimals decimals(digits);
  if constexpr (sizeof(Number) == 1) {
    if (view.n_rows > 256) return add_byte_words(view, n_columns, key, decimals, out);
  }
  double values[kTileRows];
  for (std::size_t row = 0; row < view.n_rows; row += kTileRows)
    for (std::size_t j = 0; j < n_columns; ++j) {
      const std::size_t n = std::min(kTileRows, view.n_rows - row);
      copy_column(view, j, row, n, values);
      add_words(values, n, decimals, key[j], out + row);
    }
}

#define SUREWOOD_INSTANCE(Number)                                                                       \
  template void add_row_words<Number>(const NumberView<Number>&, std::size_t, const std::uint64_t*, int, \
                                      std::uint64_t*);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANCE)
#undef SUREWOOD_INSTANCE

}  // namespace surewood
