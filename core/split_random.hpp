// One random split of one feature: a threshold uniform in value space, or a random set of categories.
#pragma once

#include "criterion.hpp"
#include "rng.hpp"
#include "split.hpp"

namespace surewood {

// Draws a split of `feature` from `stream` and, if it is better than `best`, puts it there.
//
// Numbers: a threshold uniform between the smallest and the largest representative value of the node's
// bins (not between bin numbers: that would be another algorithm). Missing values go to the better side.
// Categories: a random non-trivial subset of those present.
template <class Criterion, class Sample>
FeatureKind random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                           std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best);

// The same without comparing anything: the first feature that varies is split, missing values go to a random side.
// The score is 0 and scratch.code holds the feature's codes. Left class weights are summed into scratch.best_left
// only where limits ask for them (node.limited() or node.judged); else the partition does it on its way.
template <class Sample>
FeatureKind completely_random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                                      std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best);

// The last bin left of a threshold drawn uniformly between the values of two bins.
std::uint8_t random_bin(const ColumnInfo& info, std::uint8_t low, std::uint8_t high, Stream& stream);

// The largest bin in [first, last) whose representative value is <= threshold.
std::uint8_t last_bin_below(const double* values, std::uint8_t first, std::uint8_t last, double threshold);

}  // namespace surewood
