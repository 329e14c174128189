#include "forest/split_random.hpp"

#include <algorithm>

namespace surewood {

std::uint8_t last_bin_below(const double* values, std::uint8_t first, std::uint8_t last, double threshold) {
  // Halving without a branch on the data: thresholds are random, predictions of them would be wrong.
  const double* base = values + first + 1;
  std::uint32_t n = static_cast<std::uint32_t>(last - first - 1), below = 0;
  while (n > 0) {
    const std::uint32_t half = (n + 1) / 2;
    below += base[below + half - 1] <= threshold ? half : 0;
    n -= half;
  }
  return static_cast<std::uint8_t>(first + below);
}

std::uint8_t random_bin(const ColumnInfo& info, std::uint8_t low, std::uint8_t high, Stream& stream) {
  const double u = stream.uniform();
  const double threshold = info.values[low] * (1.0 - u) + info.values[high] * u;  // no overflow near the largest double
  return last_bin_below(info.values, low, high, threshold);
}

namespace {

constexpr std::uint32_t kFewCodes = 32;

struct Range {
  std::uint8_t low = 255, high = 0;  // codes present, missing apart
  bool missing = false;
};

// Smallest and largest of `n` codes: apart from gathering them, so that it goes a register at a time.
void widen(Range& range, const std::uint8_t* codes, std::uint32_t n) {
  std::uint8_t low = range.low, high = range.high;
  for (std::uint32_t i = 0; i < n; ++i) {
    low = std::min(low, codes[i]);
    high = std::max(high, codes[i]);
  }
  range.low = low;
  range.high = high;
}

template <class Sample>
void gather(const Sample* samples, std::uint32_t n, const ColumnView& column, std::uint8_t* out) {
  const std::uint8_t* codes = column.codes;
  const std::size_t stride = column.stride;
  std::uint32_t i = 0;
  if (stride == 1) {  // no product, and four at a time
    for (; i + 4 <= n; i += 4) {
      const std::uint8_t a = codes[samples[i].row()], b = codes[samples[i + 1].row()], c = codes[samples[i + 2].row()],
                         d = codes[samples[i + 3].row()];
      out[i] = a;
      out[i + 1] = b;
      out[i + 2] = c;
      out[i + 3] = d;
    }
  }
  for (; i < n; ++i) out[i] = codes[samples[i].row() * stride];
}

template <class Sample>
Range gather_range(const Sample* samples, std::uint32_t n, const ColumnView& column, const ColumnInfo& info,
                   std::uint8_t* out) {
  Range range;
  // Locals, since a store of a byte might change anything else as far as the compiler knows.
  const std::uint8_t* codes = column.codes;
  const std::size_t stride = column.stride;
  std::uint8_t low = 255, high = 0;
  if (info.has_missing) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint8_t code = codes[samples[i].row() * stride];
      out[i] = code;
      range.missing |= code == kMissingCode;
      low = std::min(low, code);
      high = std::max(high, code == kMissingCode ? std::uint8_t(0) : code);
    }
    if (low == kMissingCode) high = 0;
  } else if (n <= kFewCodes) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint8_t code = codes[samples[i].row() * stride];
      out[i] = code;
      low = std::min(low, code);
      high = std::max(high, code);
    }
  } else {
    gather(samples, n, column, out);
    widen(range, out, n);
    return range;
  }
  range.low = low;
  range.high = high;
  return range;
}

// Sums the class weights and rows of the samples for which `goes_left(code)`.
template <class Sample, class Test>
std::uint32_t sum_left(const NodeView<Sample>& node, SplitScratch& scratch, std::uint32_t& rows, Test goes_left) {
  std::fill_n(scratch.left.begin(), node.n_labels, 0u);
  std::uint32_t weight = 0;
  rows = 0;
  for (std::uint32_t i = 0; i < node.n; ++i) {
    std::uint32_t w = goes_left(scratch.code[i]) ? node.samples[i].weight() : 0u;
    scratch.left[node.samples[i].label()] += w;
    weight += w;
    rows += w != 0;
  }
  return weight;
}

template <class Criterion, class Sample>
double score_left(const NodeView<Sample>& node, const SplitScratch& scratch, std::uint32_t left_weight) {
  std::int64_t left = 0, right = 0;
  for (std::uint32_t c = 0; c < node.n_labels; ++c) {
    left += Criterion::term(scratch.left[c]);
    right += Criterion::term(node.counts[c] - scratch.left[c]);
  }
  return Criterion::split(left, left_weight, right, node.weight - left_weight);
}

// A subset of the codes of `seen`, neither empty nor everything: one fair coin a code, again if trivial.
CategorySet random_subset(const CategorySet& seen, Stream& stream) {
  for (;;) {
    CategorySet subset;
    bool some = false, all = true;
    for (int k = 0; k < 4; ++k) {
      if (seen.bits[k] == 0) continue;
      subset.bits[k] = stream.next() & seen.bits[k];
      some |= subset.bits[k] != 0;
      all &= subset.bits[k] == seen.bits[k];
    }
    if (some && !all) return subset;
  }
}

// Codes of a category column, and the set of those present; false if there is only one.
template <class Sample>
bool gather_categories(const Sample* samples, std::uint32_t n, const ColumnView& column, std::uint8_t* codes,
                       CategorySet& seen) {
  for (std::uint32_t i = 0; i < n; ++i) {
    codes[i] = column[samples[i].row()];
    seen.add(codes[i]);
  }
  int present = 0;
  for (std::uint64_t bits : seen.bits)
    for (; bits; bits &= bits - 1) ++present;
  return present > 1;
}

// Sums the left side of `split`; false if limits forbid it.
template <class Sample>
bool sum_allowed(const NodeView<Sample>& node, SplitScratch& scratch, Split& split) {
  const Router router(split);
  std::uint32_t rows = 0;
  split.left_weight = sum_left(node, scratch, rows, [&](std::uint8_t code) { return router.goes_left(code); });
  return node.allows(rows, split.left_weight);
}

}  // namespace

template <class Sample>
bool draw_split(const Sample* samples, std::uint32_t n, const ColumnView& column, const ColumnInfo& info,
                std::uint32_t feature, Stream& stream, std::uint8_t* codes, Split& split) {
  split.feature = feature;
  split.category = info.is_category;
  split.missing_left = false;
  if (info.is_category) {
    split.seen_set = CategorySet{};
    if (!gather_categories(samples, n, column, codes, split.seen_set)) return false;
    split.left_set = random_subset(split.seen_set, stream);
    split.missing_seen = split.seen_set.has(kMissingCode);
    return true;
  }
  const Range range = gather_range(samples, n, column, info, codes);
  if (range.low > range.high) return false;  // nothing but missing values
  if (range.low == range.high && !range.missing) return false;
  split.missing_seen = range.missing;
  split.last_left = range.low;
  split.first_right = kMissingCode;
  if (range.low == range.high) return true;  // one value against missing
  split.last_left = random_bin(info, range.low, range.high, stream);
  split.first_right = static_cast<std::uint8_t>(split.last_left + 1);
  return true;
}

template <class Criterion, class Sample>
FeatureKind random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                           std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best) {
  Split candidate;
  if (!draw_split(node.samples, node.n, column, info, feature, stream, scratch.code.data(), candidate))
    return FeatureKind::kConstant;
  for (int side = 0; side < (two_sided(candidate) ? 2 : 1); ++side) {
    candidate.missing_left = side == 1;
    if (!sum_allowed(node, scratch, candidate)) continue;
    candidate.score = score_left<Criterion>(node, scratch, candidate.left_weight);
    if (!(candidate.score > best.score)) continue;
    best = candidate;
    scratch.best_left.swap(scratch.left);
  }
  return FeatureKind::kVaries;
}

template <class Sample>
FeatureKind completely_random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                                      std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best) {
  if (!draw_split(node.samples, node.n, column, info, feature, stream, scratch.code.data(), best)) {
    best.feature = kNoFeature;
    return FeatureKind::kConstant;
  }
  if (two_sided(best)) best.missing_left = stream.coin();
  best.score = 0.0;
  if (sum_allowed(node, scratch, best))
    scratch.best_left.swap(scratch.left);
  else
    best.feature = kNoFeature;
  return FeatureKind::kVaries;
}

#define SUREWOOD_INSTANTIATE(Sample)                                                                                  \
  template bool draw_split<Sample>(const Sample*, std::uint32_t, const ColumnView&, const ColumnInfo&, std::uint32_t, \
                                   Stream&, std::uint8_t*, Split&);                                                   \
  template FeatureKind random_feature<Gini, Sample>(const NodeView<Sample>&, const ColumnView&, const ColumnInfo&,    \
                                                    std::uint32_t, Stream&, SplitScratch&, Split&);                   \
  template FeatureKind random_feature<Entropy, Sample>(const NodeView<Sample>&, const ColumnView&, const ColumnInfo&, \
                                                       std::uint32_t, Stream&, SplitScratch&, Split&);                \
  template FeatureKind completely_random_feature<Sample>(                                                             \
      const NodeView<Sample>&, const ColumnView&, const ColumnInfo&, std::uint32_t, Stream&, SplitScratch&, Split&);
SUREWOOD_INSTANTIATE(NarrowSample)
SUREWOOD_INSTANTIATE(WideSample)
#undef SUREWOOD_INSTANTIATE

}  // namespace surewood
