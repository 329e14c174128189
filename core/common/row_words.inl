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
    const double own = size[i];
    // Numbers beyond single precision stay as they are, and are not converted.
    const bool single = (own > kLeastSingle) & (own < kMostSingle);
    const auto rounded = static_cast<float>(single ? own : 1.0);
    size[i] = single ? static_cast<double>(rounded) : own;
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
