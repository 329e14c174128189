#include "forest/placed_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/cpu.hpp"
#include "forest/bin_column.hpp"
#include "forest/bins.hpp"

namespace surewood {

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kFewNumbers = 1024;       // sorted without buckets
constexpr std::size_t kManyNumbers = 1u << 31;  // more than counters hold
constexpr std::size_t kMostBuckets = 1u << 14;
constexpr std::size_t kSample = 64;
constexpr std::size_t kFullBucket = 16;  // a bucket with more than one in so many numbers is too full
constexpr std::size_t kWindow = 8;       // numbers of a bucket that are compared with each other at once
constexpr std::size_t kCountedAtOnce = 64;
constexpr std::size_t kRanked = 64;    // most numbers sorted by counting
constexpr std::size_t kMostSteps = 4;  // ends of bins in a bucket
constexpr std::size_t kPadding = 64;   // bytes past the end that are read or written, but not used

#define SUREWOOD_KERNEL "forest/placed_numbers.inl"
#include "common/all_sets.inl"

template <class Real>
void range_of(const Real* values, std::size_t n, Real& low, Real& high) {
  SUREWOOD_IN_SET(find_range(values, n, low, high));
}
template <class Real>
void places_of(const Segments<Real>& segments, std::size_t n_buckets, const Real* values, std::size_t n,
               std::uint16_t* places, std::uint32_t* counts = nullptr) {
  SUREWOOD_IN_SET(count_places(segments, n_buckets, values, n, places, counts));
}
void sum_of(const std::uint32_t* sizes, std::size_t n, std::uint32_t& sum, std::uint32_t& most) {
  SUREWOOD_IN_SET(find_sum(sizes, n, sum, most));
}
template <class Real>
void sort_few(Real* items, std::size_t n) {
  SUREWOOD_IN_SET(rank_sort(items, n));
}
template <class Real, class Queries>
void numbers_of(const Real* items, const std::uint32_t* end, Queries& queries, std::size_t n) {
  SUREWOOD_IN_SET(find_numbers(items, end, queries, n));
}
template <class Real>
void codes_of(const std::uint16_t* places, const Real* values, std::size_t n, const std::uint8_t* code,
              const Real* cuts, std::size_t steps, std::uint8_t* out) {
  SUREWOOD_IN_SET(find_codes(places, values, n, code, cuts, steps, out));
}

}  // namespace

template <class Real>
void PlacedNumbers<Real>::find_segments(Real low, Real high) {
  Real sample[kSample];
  std::size_t m = 0;
  for (std::size_t k = 0; k < kSample; ++k) {
    const Real value = values_[k * (n_ / kSample)];
    sample[m] = value;
    m += value == value;
  }
  sort_few(sample, m);
  // A little less than the buckets in all: rounding must not pass the last one.
  const Real width = static_cast<Real>(n_buckets_ - 1) / static_cast<Real>(kSegments);
  for (std::size_t s = 0; s < kSegments; ++s) segments_.start[s] = s == 0 || m == 0 ? low : sample[s * m / kSegments];
  for (std::size_t s = 0; s < kSegments; ++s) {
    segments_.length[s] = (s + 1 < kSegments ? segments_.start[s + 1] : high) - segments_.start[s];
    const Real scale = width / segments_.length[s];
    segments_.scale[s] = std::isfinite(scale) ? scale : Real(0);
  }
}

template <class Real>
bool PlacedNumbers<Real>::place(const Real* values, std::size_t n) {
  if (n < kFewNumbers || n > kManyNumbers) return false;
  Real low, high;
  range_of(values, n, low, high);
  if (!(low < high) || !std::isfinite(high - low)) return false;
  values_ = values;
  n_ = n;
  n_buckets_ = kFewNumbers / 2;
  while (n_buckets_ < kMostBuckets && n_buckets_ < n) n_buckets_ *= 2;
  find_segments(low, high);
  places_.resize(n);
  end_.assign(n_buckets_ + 2, 0);
  places_of(segments_, n_buckets_, values, n, places_.data(), end_.data() + 1);
  return spread();
}

// Puts the numbers into their buckets, whose sizes are known; false if one has too many.
template <class Real>
bool PlacedNumbers<Real>::spread() {
  constexpr std::size_t kParts = 4;      // sums side by side
  std::uint32_t* end = end_.data() + 1;  // after the end of what lies before the first bucket
  const std::uint16_t* places = places_.data();
  known_ = n_ - end[n_buckets_];
  const std::size_t part = n_buckets_ / kParts;
  std::uint32_t at[kParts + 1] = {0}, fullest[kParts];
  for (std::size_t p = 0; p < kParts; ++p) {
    sum_of(end + p * part, part, at[p + 1], fullest[p]);
    at[p + 1] += at[p];
  }
  fullest_ = *std::max_element(fullest, fullest + kParts);
  end[n_buckets_] = at[kParts];
  for (std::size_t b = 0; b < part; ++b)
    for (std::size_t p = 0; p < kParts; ++p) {
      const std::uint32_t size = end[p * part + b];
      end[p * part + b] = at[p];
      at[p] += size;
    }
  items_.resize(n_ + kPadding);
  Real* items = items_.data();
  for (std::size_t i = 0; i < n_; ++i) items[end[places[i]]++] = values_[i];
  return !too_full();
}

template <class Real>
bool PlacedNumbers<Real>::too_full() const {
  const std::size_t most = known_ / kFullBucket;
  for (std::size_t b = 0; b < n_buckets_ && fullest_ > most; ++b)
    if (end_of(b) - begin_of(b) > most && !is_constant(b)) return true;
  return false;
}

template <class Real>
bool PlacedNumbers<Real>::is_constant(std::size_t bucket) const {
  const Real *begin = items_.data() + begin_of(bucket), *end = items_.data() + end_of(bucket);
  return std::all_of(begin, end, [=](Real item) { return item == *begin; });
}

template <class Real>
void PlacedNumbers<Real>::sort_bucket(std::size_t bucket) {
  Real *begin = items_.data() + begin_of(bucket), *end = items_.data() + end_of(bucket);
  const auto n = static_cast<std::size_t>(end - begin);
  if (n <= kRanked)
    sort_few(begin, n);
  else if (!is_constant(bucket))
    std::sort(begin, end);
}

template <class Real>
bool PlacedNumbers<Real>::has_heavy(std::size_t max_bins) {
  if (fullest_ * max_bins < known_) return false;
  const Real* items = items_.data();
  for (std::size_t b = 0; b < n_buckets_; ++b) {
    const std::size_t begin = begin_of(b), end = end_of(b);
    if ((end - begin) * max_bins < known_) continue;
    sort_bucket(b);
    for (std::size_t i = begin, first = begin; i < end; ++i) {
      if (items[i] != items[first]) first = i;
      if ((i + 1 - first) * max_bins >= known_) return true;
    }
  }
  return false;
}

// Finds the numbers at these positions of the sorted column. What lies there now is in the same bucket.
template <class Real>
void PlacedNumbers<Real>::answer(Queries& queries, std::size_t n) {
  if (n == 0) return;
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  std::fill(queries.position + n, queries.position + padded, queries.position[n - 1]);
  for (std::size_t k = 0; k < padded; ++k) queries.value[k] = items_[queries.position[k]];
  places_of(segments_, n_buckets_, queries.value, padded, queries.bucket);
  numbers_of(items_.data(), end_.data(), queries, padded);
  std::size_t sorted = n_buckets_;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t bucket = queries.bucket[k], end = end_of(bucket);
    if (end - begin_of(bucket) <= kWindow) continue;
    if (bucket != sorted) sort_bucket(bucket);
    sorted = bucket;
    std::size_t stop = queries.position[k];
    queries.value[k] = items_[stop] + Real(0);
    while (stop < end && items_[stop] == queries.value[k]) ++stop;
    queries.stop[k] = static_cast<std::uint32_t>(stop);
  }
}

template <class Real>
std::size_t PlacedNumbers<Real>::add_bins(std::size_t max_bins, NumberBins& out) {
  if (has_heavy(max_bins)) return 0;
  const auto position_of = [](double weight) {  // of the first number up to which there is this weight
    const auto whole = static_cast<std::uint32_t>(weight);
    return whole - (static_cast<double>(whole) == weight);
  };
  const auto total = static_cast<double>(known_);
  for (std::size_t k = 1; k <= max_bins; ++k)
    cuts_.position[k - 1] =
        position_of(k == max_bins ? total : total * static_cast<double>(k) / static_cast<double>(max_bins));
  answer(cuts_, max_bins);
  n_bins_ = 0;
  std::uint32_t below = 0;
  for (std::size_t k = 0; k < max_bins && below < known_; ++k) {
    if (cuts_.position[k] < below) continue;  // ties: the bin before has it
    const std::uint32_t stop = cuts_.stop[k];
    cuts_.value[n_bins_] = cuts_.value[k];
    cuts_.bucket[n_bins_] = cuts_.bucket[k];
    cuts_.stop[n_bins_] = stop;
    others_.position[n_bins_++] = position_of((static_cast<double>(below) + static_cast<double>(stop)) / 2);
    below = stop;
  }
  answer(others_, n_bins_);
  out.values.insert(out.values.end(), others_.value, others_.value + n_bins_);
  std::copy(cuts_.stop, cuts_.stop + n_bins_ - 1, others_.position);
  answer(others_, n_bins_ - 1);
  out.edges.resize(out.edges.size() + n_bins_, std::numeric_limits<double>::infinity());
  double* edge = out.edges.data() + out.edges.size() - n_bins_;
  for (std::size_t b = 0; b + 1 < n_bins_; ++b) edge[b] = edge_between(cuts_.value[b], others_.value[b]);
  return n_bins_;
}

template <class Real>
void PlacedNumbers<Real>::collect(Distribution& found) {
  for (std::size_t b = 0; b < n_buckets_; ++b)
    if (end_of(b) - begin_of(b) > kWindow) sort_bucket(b);
  Real* items = items_.data();
  for (std::size_t i = 1; i < known_; ++i) {  // what is left moves within its bucket
    if (!(items[i] < items[i - 1])) continue;
    const Real item = items[i];
    std::size_t to = i;
    for (; to > 0 && item < items[to - 1]; --to) items[to] = items[to - 1];
    items[to] = item;
  }
  found.values.resize(known_);
  found.cumulative.resize(known_);
  std::size_t at = 0;
  for (std::size_t i = 0; i < known_; ++i) {  // the last of equal ones stays
    found.values[at] = items[i] + Real(0);
    found.cumulative[at] = static_cast<double>(i + 1);
    at += i + 1 == known_ || items[i + 1] != items[i];
  }
  found.values.resize(at);
  found.cumulative.resize(at);
}

template <class Real>
void PlacedNumbers<Real>::cut(const double* edges, std::size_t n_bins) {
  n_bins_ = n_bins;
  for (std::size_t b = 0; b + 1 < n_bins; ++b) cuts_.value[b] = largest_up_to<Real>(edges[b]);
  places_of(segments_, n_buckets_, cuts_.value, n_bins - 1, cuts_.bucket);
}

template <class Real>
bool PlacedNumbers<Real>::codes(std::uint8_t* out) {
  const std::size_t n_cuts = n_bins_ - 1;
  std::fill(cuts_.value + n_cuts, cuts_.value + 256, std::numeric_limits<Real>::infinity());
  code_.resize(n_buckets_ + 1 + kPadding);
  std::size_t filled = 0, most = 0, first = 0;
  for (std::size_t k = 0; k < n_cuts; ++k) {
    const std::size_t stop = cuts_.bucket[k] + std::size_t(1);
    if (stop == filled) {
      most = std::max(most, k - first);
      continue;
    }
    first = k;
    for (; filled < stop; filled += kPadding) std::memset(code_.data() + filled, static_cast<int>(k), kPadding);
    filled = stop;
  }
  if (most + 1 > kMostSteps) return false;
  std::memset(code_.data() + filled, static_cast<int>(n_cuts), n_buckets_ - filled);
  code_[n_buckets_] = kMissingCode;
  codes_of(places_.data(), values_, n_, code_.data(), cuts_.value, most + 1, out);
  return true;
}

template class PlacedNumbers<float>;
template class PlacedNumbers<double>;

}  // namespace surewood
