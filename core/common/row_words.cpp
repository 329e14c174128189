#include "common/row_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "common/bits.hpp"
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
constexpr std::size_t kBlockColumns = 16;  // whose words of bytes stay in the cache together
constexpr std::size_t kProbedRows = 8;     // that tell most columns of other numbers from bytes

SUREWOOD_INLINE std::uint64_t bits_of(double value) { return same_bits<std::uint64_t>(value); }
SUREWOOD_INLINE double number_of(std::uint64_t bits) { return same_bits<double>(bits); }

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

#define SUREWOOD_KERNEL "common/row_words.inl"
#include "common/all_sets.inl"

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

// Small whole numbers (bytes, or what fits into one whatever its type) have 256 words per column.
class ByteWords {
 public:
  ByteWords(const double* numbers, std::size_t width, const std::uint64_t* key, const Decimals& decimals)
      : width_(width), words_(width * 256, 0) {
    for (std::size_t c = 0; c < width; ++c) add_words(numbers, 256, decimals, key[c], words_.data() + c * 256);
  }

  // Adds the words of n rows, whose bytes lie column after column of kTileRows.
  void add(const std::uint8_t* bytes, std::size_t n, std::uint64_t* out) const {
    for (std::size_t c = 0; c < width_; ++c) {
      const std::uint64_t* column_words = words_.data() + c * 256;
      const std::uint8_t* column = bytes + c * kTileRows;
      for (std::size_t i = 0; i < n; ++i) out[i] += column_words[column[i]];
    }
  }

 private:
  std::size_t width_;
  std::vector<std::uint64_t> words_;
};

template <class Number>
bool to_bytes_any(const NumberView<Number>& view, std::size_t row, std::size_t n, std::size_t column, std::size_t width,
                  std::uint8_t* bytes) {
#if defined(SUREWOOD_X86_SETS)
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::kAvx512) return avx512::to_bytes(view, row, n, column, width, bytes);
  if (set == InstructionSet::kAvx2) return avx2::to_bytes(view, row, n, column, width, bytes);
#endif
  return baseline::to_bytes(view, row, n, column, width, bytes);
}

// Adds the words of some neighbouring columns. As long as tiles hold small whole numbers, words are looked up; from
// the first other number on they are computed.
template <class Number>
void add_block_words(const NumberView<Number>& view, std::size_t column, std::size_t width, const std::uint64_t* key,
                     const Decimals& decimals, std::uint64_t* out) {
  std::uint8_t bytes[kTileRows * kBlockColumns] = {};
  double values[kTileRows];
  std::size_t row = 0;
  const bool looked_up = view.n_rows > 256 && to_bytes_any(view, 0, std::min(kProbedRows, view.n_rows), column, width, bytes);
  if (looked_up) {
    double numbers[256];
    for (int byte = 0; byte < 256; ++byte)
      numbers[byte] = sizeof(Number) == 1 ? static_cast<double>(static_cast<Number>(byte)) : static_cast<double>(byte);
    const ByteWords words(numbers, width, key, decimals);
    for (; row < view.n_rows; row += kTileRows) {
      const std::size_t n = std::min(kTileRows, view.n_rows - row);
      if (!to_bytes_any(view, row, n, column, width, bytes)) break;
      words.add(bytes, n, out + row);
    }
  }
  for (; row < view.n_rows; row += kTileRows)
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t n = std::min(kTileRows, view.n_rows - row);
      copy_column(view, column + c, row, n, values);
      add_words(values, n, decimals, key[c], out + row);
    }
}

}  // namespace

template <class Number>
void add_row_words(const NumberView<Number>& view, std::size_t n_columns, const std::uint64_t* key, int digits,
                   std::uint64_t* out) {
  const Decimals decimals(digits);
  for (std::size_t first = 0; first < n_columns; first += kBlockColumns)
    add_block_words(view, first, std::min(kBlockColumns, n_columns - first), key + first, decimals, out);
}

#define SUREWOOD_INSTANCE(Number)                                                                       \
  template void add_row_words<Number>(const NumberView<Number>&, std::size_t, const std::uint64_t*, int, \
                                      std::uint64_t*);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANCE)
#undef SUREWOOD_INSTANCE

}  // namespace surewood
