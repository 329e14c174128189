#include "forest/distinct.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace surewood {

namespace {

// Bit patterns in the order of the numbers: negative ones reversed, positive ones above them.
template <class Number, class Key>
Key to_key(Number value) {
  Key bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr Key kSign = Key(1) << (8 * sizeof(Key) - 1);
  return bits & kSign ? ~bits : bits | kSign;
}

template <class Number, class Key>
Number from_key(Key key) {
  constexpr Key kSign = Key(1) << (8 * sizeof(Key) - 1);
  Key bits = key & kSign ? key & ~kSign : ~key;
  Number value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Key>
void radix_sort(std::vector<Key>& keys) {
  constexpr int kBits = 11, kPasses = (8 * int(sizeof(Key)) + kBits - 1) / kBits;
  constexpr std::size_t kBuckets = 1u << kBits;
  if (keys.size() < 256) return std::sort(keys.begin(), keys.end());
  std::vector<Key> other(keys.size());
  std::vector<std::size_t> start(kPasses * kBuckets, 0);
  for (Key key : keys)
    for (int pass = 0; pass < kPasses; ++pass) ++start[pass * kBuckets + ((key >> (kBits * pass)) & (kBuckets - 1))];
  for (int pass = 0; pass < kPasses; ++pass) {
    std::size_t* count = start.data() + pass * kBuckets;
    const int shift = kBits * pass;
    if (count[(keys[0] >> shift) & (kBuckets - 1)] == keys.size()) continue;  // one bucket holds everything
    std::size_t at = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const std::size_t size = count[bucket];
      count[bucket] = at;
      at += size;
    }
    for (Key key : keys) other[count[(key >> shift) & (kBuckets - 1)]++] = key;
    keys.swap(other);
  }
}

template <class Number, class Key>
Distinct by_keys(const double* column, std::size_t n) {
  std::vector<Key> keys;
  keys.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    if (column[i] == column[i]) keys.push_back(to_key<Number, Key>(static_cast<Number>(column[i]) + Number(0)));
  radix_sort(keys);
  Distinct found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + 1 < keys.size() && keys[i + 1] == keys[i]) continue;
    found.values.push_back(static_cast<double>(from_key<Number, Key>(keys[i])));
    found.cumulative.push_back(static_cast<std::int64_t>(i + 1));
  }
  return found;
}

bool fits_float(double value) {
  return value != value ||
         (value >= -3.0e38 && value <= 3.0e38 && static_cast<double>(static_cast<float>(value)) == value);
}

}  // namespace

Distinct distinct_values(const double* column, std::size_t n) {
  bool narrow = true;
  for (std::size_t i = 0; i < n && narrow; ++i) narrow = fits_float(column[i]);
  return narrow ? by_keys<float, std::uint32_t>(column, n) : by_keys<double, std::uint64_t>(column, n);
}

}  // namespace surewood
