// Body of the kernel; included by common/row_words.cpp once per instruction set, inside a namespace of its own. Each
// loop does one thing, so that compilers use vectors.

// Adds the mixed word of each of n finite numbers to its total; whether all were finite: if not, nothing was added.
bool add_finite(const double* values, std::size_t n, const Decimals& decimals, std::uint64_t key, std::uint64_t* out) {
  double size[kTileRows], sum[kTileRows];
  std::uint64_t sign[kTileRows], bits[kTileRows], place[kTileRows], mantissa[kTileRows];
  std::memcpy(bits, values, n * sizeof(double));
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sign[i] = bits[i] & ~kSizeBits;
    bits[i] &= kSizeBits;
    largest = std::max(largest, bits[i]);
  }
  if (largest >= kInfinityBits) return false;
  std::memcpy(size, bits, n * sizeof(double));
  for (std::size_t i = 0; i < n; ++i) {
    const double exact = size[i];
    // Numbers beyond single precision stay as they are, and are not converted.
    const bool single = (exact > kLeastSingle) & (exact < kMostSingle);
    const auto rounded = static_cast<float>(single ? exact : 1.0);
    size[i] = single ? static_cast<double>(rounded) : exact;
  }
  std::memcpy(bits, size, n * sizeof(double));
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t exponent = bits[i] >> 52;
    place[i] = decimals.place[exponent] + (size[i] >= decimals.next_power[exponent] ? 1u : 0u);
  }
  // The low bits of the sum are the integer nearest to the mantissa, even on ties.
  for (std::size_t i = 0; i < n; ++i) sum[i] = size[i] * decimals.scale[place[i]] * decimals.unit + kTwoTo52;
  std::memcpy(mantissa, sum, n * sizeof(double));
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t whole = mantissa[i] - kTwoTo52Bits;
    const std::uint64_t carried = whole >= decimals.top ? 1u : 0u;
    const std::uint64_t digits = carried ? decimals.top_tenth : whole;
    const std::uint64_t word = (digits * 1024 + place[i] + carried) | sign[i];
    out[i] += mix64((whole > 0 ? word : 0) + key);
  }
  return true;
}

// Numbers of a tile as bytes, column after column of kTileRows; whether each of them is a whole number from 0 to 255
// (for types of one byte: always, byte for byte).
template <class Number>
bool to_bytes(const NumberView<Number>& view, std::size_t row, std::size_t n, std::size_t column, std::size_t width,
              std::uint8_t* bytes) {
  const bool side_by_side = view.column_stride == 1 && width == kBlockColumns;
  Number collected[kBlockColumns] = {}, inside[kBlockColumns];
  std::int32_t whole[kBlockColumns];
  for (std::size_t i = 0; i < n; ++i) {
    const Number* from = view.at(row + i, column);
    if (!side_by_side)
      for (std::size_t c = 0; c < width; ++c) collected[c] = from[static_cast<std::ptrdiff_t>(c) * view.column_stride];
    const Number* numbers = side_by_side ? from : collected;
    if constexpr (sizeof(Number) == 1) {
      for (std::size_t c = 0; c < kBlockColumns; ++c) bytes[c * kTileRows + i] = static_cast<std::uint8_t>(numbers[c]);
    } else {
      for (std::size_t c = 0; c < kBlockColumns; ++c)  // a missing value is not inside
        inside[c] = (numbers[c] >= Number{0}) & (numbers[c] <= Number{255}) ? numbers[c] : Number{0};
      for (std::size_t c = 0; c < kBlockColumns; ++c) whole[c] = static_cast<std::int32_t>(inside[c]);
      unsigned others = 0;
      for (std::size_t c = 0; c < kBlockColumns; ++c) others |= static_cast<Number>(whole[c]) != numbers[c] ? 1u : 0u;
      if (others) return false;
      for (std::size_t c = 0; c < kBlockColumns; ++c) bytes[c * kTileRows + i] = static_cast<std::uint8_t>(whole[c]);
    }
  }
  return true;
}
