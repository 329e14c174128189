#include "forest/split_scan.hpp"

#include <algorithm>

namespace surewood {

namespace {

// The samples of one code: order[begin, end).
struct Group {
  std::uint8_t code;
  std::uint32_t begin, end;
};

// Counting sort of the node's samples by code; returns the number of groups, in ascending code.
template <class Sample>
std::uint32_t group_by_code(const NodeView<Sample>& node, const ColumnView& column, SplitScratch& scratch,
                            Group* groups) {
  std::uint32_t count[256] = {0};
  for (std::uint32_t i = 0; i < node.n; ++i) {
    std::uint8_t code = column[node.samples[i].row()];
    scratch.code[i] = code;
    ++count[code];
  }
  std::uint32_t n_groups = 0, at = 0;
  std::uint32_t next[256];
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (count[code] == 0) continue;
    next[code] = at;
    groups[n_groups++] = {static_cast<std::uint8_t>(code), at, at + count[code]};
    at += count[code];
  }
  for (std::uint32_t i = 0; i < node.n; ++i) scratch.order[next[scratch.code[i]]++] = i;
  return n_groups;
}

// Sorts categories by the smoothed frequency of the node's majority class, ties by code.
template <class Sample>
void sort_categories(const NodeView<Sample>& node, const SplitScratch& scratch, Group* groups,
                            std::uint32_t n_groups) {
  std::uint64_t majority[256] = {0}, total[256] = {0};
  for (std::uint32_t g = 0; g < n_groups; ++g)
    for (std::uint32_t i = groups[g].begin; i < groups[g].end; ++i) {
      const Sample& sample = node.samples[scratch.order[i]];
      total[groups[g].code] += sample.weight();
      if (sample.label() == node.majority) majority[groups[g].code] += sample.weight();
    }
  double share[256];
  for (std::uint32_t g = 0; g < n_groups; ++g)
    share[groups[g].code] = node.category.share(majority[groups[g].code], total[groups[g].code]);
  std::sort(groups, groups + n_groups, [&](const Group& a, const Group& b) {
    return share[a.code] != share[b.code] ? share[a.code] < share[b.code] : a.code < b.code;
  });
}

// Moves groups from right to left one by one and keeps the best place to stop.
template <class Criterion, class Sample>
class Sweep {
 public:
  Sweep(const NodeView<Sample>& node, std::uint32_t feature, double penalty, SplitScratch& scratch, Split& best)
      : node_(node), feature_(feature), penalty_(penalty), scratch_(scratch), best_(best) {
    for (std::uint32_t c = 0; c < node.n_labels; ++c) node_sum_ += Criterion::term(node.counts[c]);
  }

  void restart() {
    std::fill_n(scratch_.left.begin(), node_.n_labels, 0u);
    std::copy_n(node_.counts, node_.n_labels, scratch_.right.begin());
    left_sum_ = 0;
    right_sum_ = node_sum_;
    left_weight_ = 0;
    left_rows_ = 0;
    left_set_ = CategorySet{};
  }

  void move_left(const Group& group) {
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const Sample& sample = node_.samples[scratch_.order[i]];
      std::uint32_t w = sample.weight();
      std::uint32_t& left = scratch_.left[sample.label()];
      std::uint32_t& right = scratch_.right[sample.label()];
      left_sum_ += Criterion::term(left + w) - Criterion::term(left);
      right_sum_ += Criterion::term(right - w) - Criterion::term(right);
      left += w;
      right -= w;
      left_weight_ += w;
    }
    left_rows_ += group.end - group.begin;
    left_set_.add(group.code);
  }

  // Is stopping after `last`, before `next`, better than the best so far?
  void consider(const Group& last, const Group& next, bool category, bool missing_left) {
    if (!node_.allows(left_rows_, left_weight_)) return;
    double score = Criterion::split(left_sum_, left_weight_, right_sum_, node_.weight - left_weight_) - penalty_;
    if (!(score > best_.score)) return;
    best_.score = score;
    best_.feature = feature_;
    best_.left_weight = left_weight_;
    best_.last_left = last.code;
    best_.first_right = next.code;
    best_.category = category;
    best_.missing_left = missing_left;
    best_.left_set = left_set_;
    std::copy_n(scratch_.left.begin(), node_.n_labels, scratch_.best_left.begin());
    improved = true;
  }

  bool improved = false;

 private:
  const NodeView<Sample>& node_;
  std::uint32_t feature_;
  double penalty_;
  SplitScratch& scratch_;
  Split& best_;
  std::int64_t node_sum_ = 0, left_sum_ = 0, right_sum_ = 0;
  std::uint32_t left_weight_ = 0, left_rows_ = 0;
  CategorySet left_set_;
};

}  // namespace

template <class Criterion, class Sample>
FeatureKind scan_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                         std::uint32_t feature, SplitScratch& scratch, Split& best) {
  Group groups[256];
  std::uint32_t n_groups = group_by_code(node, column, scratch, groups);
  if (n_groups < 2) return FeatureKind::kConstant;
  bool missing = groups[n_groups - 1].code == kMissingCode;
  if (info.is_category) sort_categories(node, scratch, groups, n_groups);

  Sweep<Criterion, Sample> sweep(node, feature, info.is_category ? node.category.penalty(n_groups) : 0.0, scratch, best);
  sweep.restart();
  for (std::uint32_t g = 0; g + 1 < n_groups; ++g) {
    sweep.move_left(groups[g]);
    sweep.consider(groups[g], groups[g + 1], info.is_category, false);
  }
  if (missing && !info.is_category) {
    sweep.restart();
    sweep.move_left(groups[n_groups - 1]);
    for (std::uint32_t g = 0; g + 2 < n_groups; ++g) {
      sweep.move_left(groups[g]);
      sweep.consider(groups[g], groups[g + 1], false, true);
    }
  }
  if (sweep.improved) {
    best.missing_seen = missing;
    best.seen_set = CategorySet{};
    for (std::uint32_t g = 0; g < n_groups; ++g) best.seen_set.add(groups[g].code);
  }
  return FeatureKind::kVaries;
}

#define SUREWOOD_INSTANTIATE(Criterion, Sample)                                                                       \
  template FeatureKind scan_feature<Criterion, Sample>(const NodeView<Sample>&, const ColumnView&, const ColumnInfo&, \
                                                       std::uint32_t, SplitScratch&, Split&);
SUREWOOD_INSTANTIATE(Gini, NarrowSample)
SUREWOOD_INSTANTIATE(Gini, WideSample)
SUREWOOD_INSTANTIATE(Entropy, NarrowSample)
SUREWOOD_INSTANTIATE(Entropy, WideSample)
#undef SUREWOOD_INSTANTIATE

}  // namespace surewood
