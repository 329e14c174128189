#include "split_random.hpp"

#include <algorithm>

namespace surewood {

std::uint8_t last_bin_below(const double* values, std::uint8_t first, std::uint8_t last, double threshold) {
  const double* end = std::upper_bound(values + first + 1, values + last, threshold);
  return static_cast<std::uint8_t>(end - values - 1);
}

namespace {

struct Range {
  std::uint8_t low = 255, high = 0;  // codes present, missing apart
  bool missing = false;
};

template <class Sample>
Range gather_range(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                   SplitScratch& scratch) {
  Range range;
  std::uint8_t low = 255, high = 0;
  if (!info.has_missing) {
    for (std::uint32_t i = 0; i < node.n; ++i) {
      std::uint8_t code = column[node.samples[i].row];
      scratch.code[i] = code;
      low = std::min(low, code);
      high = std::max(high, code);
    }
  } else {
    for (std::uint32_t i = 0; i < node.n; ++i) {
      std::uint8_t code = column[node.samples[i].row];
      scratch.code[i] = code;
      if (code == kMissingCode) {
        range.missing = true;
        continue;
      }
      low = std::min(low, code);
      high = std::max(high, code);
    }
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
    std::uint32_t w = goes_left(scratch.code[i]) ? node.samples[i].weight : 0u;
    scratch.left[node.samples[i].label] += w;
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

template <class Criterion, class Sample, class Test>
void offer(const NodeView<Sample>& node, SplitScratch& scratch, const Split& candidate, bool scored, Split& best,
           Test goes_left) {
  std::uint32_t rows = 0;
  std::uint32_t weight = sum_left(node, scratch, rows, goes_left);
  if (!node.allows(rows, weight)) return;
  double score = scored ? score_left<Criterion>(node, scratch, weight) : 0.0;
  if (!(score > best.score)) return;
  best = candidate;
  best.score = score;
  best.left_weight = weight;
  scratch.best_left.swap(scratch.left);
}

template <class Criterion, class Sample>
FeatureKind random_categories(const NodeView<Sample>& node, const ColumnView& column, std::uint32_t feature,
                              bool scored, Stream& stream, SplitScratch& scratch, Split& best) {
  Split candidate;
  candidate.feature = feature;
  candidate.category = true;
  for (std::uint32_t i = 0; i < node.n; ++i) {
    scratch.code[i] = column[node.samples[i].row];
    candidate.seen_set.add(scratch.code[i]);
  }
  int present = 0;
  for (std::uint64_t bits : candidate.seen_set.bits)
    for (; bits; bits &= bits - 1) ++present;
  if (present < 2) return FeatureKind::kConstant;
  candidate.left_set = random_subset(candidate.seen_set, stream);
  candidate.missing_seen = candidate.seen_set.has(kMissingCode);
  const CategorySet left = candidate.left_set;
  offer<Criterion>(node, scratch, candidate, scored, best, [&](std::uint8_t code) { return left.has(code); });
  return FeatureKind::kVaries;
}

}  // namespace

template <class Criterion, class Sample>
FeatureKind random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                           std::uint32_t feature, bool scored, Stream& stream, SplitScratch& scratch,
                           Split& best) {
  if (info.is_category)
    return random_categories<Criterion>(node, column, feature, scored, stream, scratch, best);
  Range range = gather_range(node, column, info, scratch);
  if (range.low > range.high) return FeatureKind::kConstant;  // nothing but missing values
  if (range.low == range.high && !range.missing) return FeatureKind::kConstant;

  Split candidate;
  candidate.feature = feature;
  candidate.missing_seen = range.missing;
  if (range.low == range.high) {  // one value against missing
    candidate.last_left = range.low;
    candidate.first_right = kMissingCode;
    const std::uint8_t last = range.low;
    offer<Criterion>(node, scratch, candidate, scored, best, [=](std::uint8_t code) { return code <= last; });
    return FeatureKind::kVaries;
  }
  const double low = info.values[range.low], high = info.values[range.high], u = stream.uniform();
  const double threshold = low * (1.0 - u) + high * u;  // no overflow for values near the largest double
  const std::uint8_t last = last_bin_below(info.values, range.low, range.high, threshold);
  candidate.last_left = last;
  candidate.first_right = static_cast<std::uint8_t>(last + 1);
  bool try_right = true, try_left = range.missing;
  if (range.missing && !scored) {
    try_left = (stream.next() >> 63) != 0;
    try_right = !try_left;
  }
  if (try_right)
    offer<Criterion>(node, scratch, candidate, scored, best, [=](std::uint8_t code) { return code <= last; });
  if (try_left) {
    candidate.missing_left = true;
    const std::uint8_t test = static_cast<std::uint8_t>(last + 1);
    offer<Criterion>(node, scratch, candidate, scored, best,
                     [=](std::uint8_t code) { return static_cast<std::uint8_t>(code + 1) <= test; });
  }
  return FeatureKind::kVaries;
}

#define SUREWOOD_INSTANTIATE(Criterion, Sample)                                                               \
  template FeatureKind random_feature<Criterion, Sample>(const NodeView<Sample>&, const ColumnView&,          \
                                                         const ColumnInfo&, std::uint32_t, bool, Stream&,     \
                                                         SplitScratch&, Split&);
SUREWOOD_INSTANTIATE(Gini, NarrowSample)
SUREWOOD_INSTANTIATE(Gini, WideSample)
SUREWOOD_INSTANTIATE(Entropy, NarrowSample)
SUREWOOD_INSTANTIATE(Entropy, WideSample)
#undef SUREWOOD_INSTANTIATE

}  // namespace surewood
