#include "forest/distinct.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace surewood {

namespace {

constexpr int kDigit = 11;                        // bits of a radix pass
constexpr std::size_t kBuckets = 1u << kDigit;
constexpr std::size_t kFewItems = 256;            // sorted without passes
constexpr std::size_t kMoves = 4;                 // per item, before sorting in place gives up
constexpr std::size_t kCounted = 1u << 12;        // widest range of whole numbers that is always counted
constexpr std::size_t kBlockColumns = 32;         // whose bytes are counted together

// Bit patterns in the order of the numbers: negative ones reversed, positive ones above them.
template <class Number, class Key>
Key to_key(Number value) {
  Key bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr Key kSign = Key(1) << (8 * sizeof(Key) - 1);
  return bits & kSign ? ~bits : bits | kSign;
}

template <class Number>
struct Weighted {
  Number value;
  double weight;
};
inline float value_of(float item) { return item; }
inline double value_of(double item) { return item; }
template <class Number>
Number value_of(const Weighted<Number>& item) {
  return item.value;
}
inline double weight_of(float) { return 1.0; }
inline double weight_of(double) { return 1.0; }
template <class Number>
double weight_of(const Weighted<Number>& item) {
  return item.weight;
}

template <class Item>
struct SortScratch {
  std::vector<Item> items, other;
};

// Room of one thread, used again for each column.
struct Scratch {
  SortScratch<float> narrow;
  SortScratch<double> wide;
  SortScratch<Weighted<float>> weighted_narrow;
  SortScratch<Weighted<double>> weighted_wide;
  std::vector<double> numbers, sums;
  std::vector<std::uint32_t> counts;
  SortScratch<float>& plain(float) { return narrow; }
  SortScratch<double>& plain(double) { return wide; }
  SortScratch<Weighted<float>>& weighted(float) { return weighted_narrow; }
  SortScratch<Weighted<double>>& weighted(double) { return weighted_wide; }
};

// A stable pass by the digit of each item; `count` has the items of each digit and is used up.
template <class Item, class Digit>
void radix_pass(SortScratch<Item>& scratch, std::uint32_t* count, Digit digit) {
  std::uint32_t at = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint32_t size = count[bucket];
    count[bucket] = at;
    at += size;
  }
  Item* to = scratch.other.data();
  for (const Item& item : scratch.items) to[count[digit(item)]++] = item;
  scratch.items.swap(scratch.other);
}

// Sorts what is almost sorted; false if that takes too long.
template <class Item>
bool insert_in_place(Item* items, std::size_t n) {
  std::size_t moves = kMoves * n;
  for (std::size_t i = 1; i < n; ++i) {
    if (!(value_of(items[i]) < value_of(items[i - 1]))) continue;
    const Item item = items[i];
    std::size_t to = i;
    for (; to > 0 && value_of(item) < value_of(items[to - 1]); --to) items[to] = items[to - 1];
    items[to] = item;
    if (i - to > moves) return false;
    moves -= i - to;
  }
  return true;
}

// Sorts by place between the smallest and the largest value, then in place: quick unless a few values are far away.
template <class Item, class Number>
bool sort_by_place(SortScratch<Item>& scratch, Number low, Number high) {
  const std::size_t n = scratch.items.size();
  const Number scale = Number(kBuckets * kBuckets - 1) / (high - low);
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  std::uint32_t count[2 * kBuckets] = {0};
  const auto place = [=](const Item& item) { return static_cast<std::int32_t>((value_of(item) - low) * scale); };
  constexpr std::int32_t kMask = kBuckets - 1;
  for (const Item& item : scratch.items) {
    const std::int32_t at = place(item);
    ++count[at & kMask];
    ++count[kBuckets + ((at >> kDigit) & kMask)];
  }
  radix_pass(scratch, count, [=](const Item& item) { return place(item) & kMask; });
  radix_pass(scratch, count + kBuckets, [=](const Item& item) { return (place(item) >> kDigit) & kMask; });
  return insert_in_place(scratch.items.data(), n);
}

// Sorts by all bits.
template <class Item, class Number, class Key>
void sort_by_bits(SortScratch<Item>& scratch) {
  for (int shift = 0; shift < 8 * int(sizeof(Key)); shift += kDigit) {
    const auto digit = [=](const Item& item) {
      return static_cast<std::size_t>(to_key<Number, Key>(value_of(item)) >> shift) & (kBuckets - 1);
    };
    std::uint32_t count[kBuckets] = {0};
    for (const Item& item : scratch.items) ++count[digit(item)];
    if (count[digit(scratch.items[0])] < scratch.items.size()) radix_pass(scratch, count, digit);
  }
}

template <class Item, class Number>
void sort_items(SortScratch<Item>& scratch, Number low, Number high) {
  using Key = std::conditional_t<std::is_same_v<Number, float>, std::uint32_t, std::uint64_t>;
  if (scratch.items.size() < kFewItems) {
    std::sort(scratch.items.begin(), scratch.items.end(),
              [](const Item& a, const Item& b) { return value_of(a) < value_of(b); });
    return;
  }
  if (!(low < high)) return;
  scratch.other.resize(scratch.items.size());
  if (!sort_by_place(scratch, low, high)) sort_by_bits<Item, Number, Key>(scratch);
}

template <class Item>
void collect(const std::vector<Item>& items, Distribution& found) {
  const std::size_t n = items.size();
  found.values.resize(n);
  found.cumulative.resize(n);
  std::size_t at = 0;
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {  // the last of equal ones stays
    total += weight_of(items[i]);
    found.values[at] = value_of(items[i]);
    found.cumulative[at] = total;
    at += i + 1 == n || value_of(items[i + 1]) != value_of(items[i]);
  }
  found.values.resize(at);
  found.cumulative.resize(at);
}

template <class Number, class From>
void sort_numbers(const From* column, std::size_t n, const double* weight, Scratch& room, Distribution& found) {
  Number low = std::numeric_limits<Number>::infinity(), high = -low;
  if (weight == nullptr) {
    SortScratch<Number>& scratch = room.plain(Number());
    scratch.items.resize(n);
    std::size_t known = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Number value = static_cast<Number>(column[i]) + Number(0);  // one zero
      scratch.items[known] = value;
      known += value == value;
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    scratch.items.resize(known);
    sort_items(scratch, low, high);
    return collect(scratch.items, found);
  }
  SortScratch<Weighted<Number>>& scratch = room.weighted(Number());
  scratch.items.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (column[i] != column[i] || !(weight[i] > 0.0)) continue;
    const Number value = static_cast<Number>(column[i]) + Number(0);
    low = std::min(low, value);
    high = std::max(high, value);
    scratch.items.push_back({value, weight[i]});
  }
  sort_items(scratch, low, high);
  collect(scratch.items, found);
}

bool fits_float(double value) {
  return value != value ||
         (value >= -3.0e38 && value <= 3.0e38 && static_cast<double>(static_cast<float>(value)) == value);
}

void sort_column(const float* column, std::size_t n, const double* weight, Scratch& room, Distribution& found) {
  sort_numbers<float>(column, n, weight, room, found);
}

void sort_column(const double* column, std::size_t n, const double* weight, Scratch& room, Distribution& found) {
  bool narrow = true;
  for (std::size_t i = 0; i < n && narrow; ++i) narrow = fits_float(column[i]);
  if (narrow)
    sort_numbers<float>(column, n, weight, room, found);
  else
    sort_numbers<double>(column, n, weight, room, found);
}

template <class Number>
void sort_column(const Number* column, std::size_t n, const double* weight, Scratch& room, Distribution& found) {
  room.numbers.assign(column, column + n);
  sort_column(room.numbers.data(), n, weight, room, found);
}

// Smallest and largest of a column of whole numbers; false if a number is not whole or missing values are all there is.
template <class Number>
bool whole_range(const Number* column, std::size_t n, double& low, double& high) {
  if (n == 0) return false;
  Number least = std::numeric_limits<Number>::max(), most = std::numeric_limits<Number>::lowest();
  if constexpr (std::is_integral_v<Number>) {
    for (std::size_t i = 0; i < n; ++i) {
      least = std::min(least, column[i]);
      most = std::max(most, column[i]);
    }
  } else {
    constexpr std::size_t kAtOnce = 512;  // real numbers show themselves at once
    for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
      bool whole = true;
      for (std::size_t i = begin; i < std::min(n, begin + kAtOnce); ++i) {
        const Number value = column[i];
        // The sum rounds to a whole number where the value is small enough.
        constexpr Number kRound = std::is_same_v<Number, float> ? Number(12582912.0) : Number(6755399441055744.0);
        whole &= ((value + kRound) - kRound == value && std::fabs(value) < kRound / 3) || value != value;
        least = value < least ? value : least;
        most = value > most ? value : most;
      }
      if (!whole) return false;
    }
  }
  low = static_cast<double>(least);
  high = static_cast<double>(most);
  return low <= high;
}

void collect_counts(const double* count, std::size_t n, double low, Distribution& found) {
  found.clear();
  double total = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    if (count[k] == 0.0) continue;
    total += count[k];
    found.values.push_back(low + static_cast<double>(k));
    found.cumulative.push_back(total);
  }
}

template <class Number>
void count_column(const Number* column, std::size_t n, const double* weight, double low, std::size_t range,
                  Scratch& room, Distribution& found) {
  std::vector<double>& sums = room.sums;
  std::vector<std::uint32_t>& counts = room.counts;
  sums.assign(range, 0.0);
  const auto least = static_cast<Number>(low);
  if (weight == nullptr && n < 0xFFFFFFFFu) {
    counts.assign(range, 0);
    for (std::size_t i = 0; i < n; ++i)
      if (std::is_integral_v<Number> || column[i] == column[i])
        ++counts[static_cast<std::size_t>(static_cast<std::int64_t>(column[i] - least))];
    std::copy(counts.begin(), counts.end(), sums.begin());
  } else {
    for (std::size_t i = 0; i < n; ++i)
      if (column[i] == column[i])
        sums[static_cast<std::size_t>(static_cast<std::int64_t>(column[i] - least))] += weight ? weight[i] : 1.0;
  }
  collect_counts(sums.data(), range, low, found);
}

}  // namespace

struct DistinctFinder::Room : Scratch {};

DistinctFinder::DistinctFinder() : room_(std::make_unique<Room>()) {}
DistinctFinder::~DistinctFinder() = default;

template <class Number>
bool DistinctFinder::count(const Number* column, std::size_t n, const double* weight, Distribution& found) {
  double low, high;
  if (!whole_range(column, n, low, high) || high - low >= static_cast<double>(kCounted) || std::fabs(low) >= 4.0e15)
    return false;
  count_column(column, n, weight, low, static_cast<std::size_t>(high - low) + 1, *room_, found);
  return true;
}

template <class Number>
void DistinctFinder::sort(const Number* column, std::size_t n, const double* weight, Distribution& found) {
  sort_column(column, n, weight, *room_, found);
}

template <class Byte>
void count_bytes(const NumberView<Byte>& view, std::size_t begin, std::size_t end, const double* weight,
                 const std::function<void(std::size_t, const Distribution&)>& found) {
  constexpr double kLeast = std::numeric_limits<Byte>::min();
  std::vector<std::uint32_t> counts(kBlockColumns * 256);
  std::vector<double> sums(kBlockColumns * 256);
  Distribution column;
  for (std::size_t first = begin; first < end; first += kBlockColumns) {
    const std::size_t width = std::min(kBlockColumns, end - first);
    std::fill(sums.begin(), sums.end(), 0.0);
    constexpr std::size_t kRows = 1u << 30;  // fewer than a counter holds
    for (std::size_t rows = 0; rows < view.n_rows; rows += kRows) {
      const std::size_t stop = std::min(view.n_rows, rows + kRows);
      std::fill(counts.begin(), counts.end(), 0u);
      for (std::size_t tile = rows; tile < stop; tile += kTileRows)
        for (std::size_t c = 0; c < width; ++c) {
          const Byte* from = view.at(tile, first + c);
          const std::size_t n = std::min(kTileRows, stop - tile);
          for (std::size_t i = 0; i < n; ++i) {
            const auto place = static_cast<std::uint8_t>(from[static_cast<std::ptrdiff_t>(i) * view.row_stride]);
            if (weight == nullptr)
              ++counts[256 * c + place];
            else
              sums[256 * c + place] += weight[tile + i];
          }
        }
      for (std::size_t k = 0; k < counts.size(); ++k) sums[k] += counts[k];
    }
    for (std::size_t c = 0; c < width; ++c) {
      double* column_sums = sums.data() + 256 * c;
      if (kLeast < 0) std::rotate(column_sums, column_sums + 128, column_sums + 256);
      collect_counts(column_sums, 256, kLeast, column);
      found(first + c, column);
    }
  }
}

#define SUREWOOD_INSTANTIATE(Number)                                                                                 \
  template bool DistinctFinder::count<Number>(const Number*, std::size_t, const double*, Distribution&);              \
  template void DistinctFinder::sort<Number>(const Number*, std::size_t, const double*, Distribution&);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANTIATE)
#undef SUREWOOD_INSTANTIATE
template void count_bytes<std::uint8_t>(const NumberView<std::uint8_t>&, std::size_t, std::size_t, const double*,
                                        const std::function<void(std::size_t, const Distribution&)>&);
template void count_bytes<std::int8_t>(const NumberView<std::int8_t>&, std::size_t, std::size_t, const double*,
                                       const std::function<void(std::size_t, const Distribution&)>&);

}  // namespace surewood
