// One random split of one feature: a threshold uniform in value space, or a random set of categories.
#pragma once

#include "criterion.hpp"
#include "rng.hpp"
#include "split.hpp"

namespace surewood {

// Draws a split of `feature` from `stream` and, if it is better than `best`, puts it there.
//
// Numbers: a threshold uniform between the smallest and the largest representative value of the node's
// bins (not between bin numbers: that would be another algorithm). Missing values go to the better side
// when `scored`, else to a random one. Categories: a random non-trivial subset of those present.
// With `scored` false (completely random trees) the score is 0 and no class weights are compared;
// scratch.best_left holds the left class weights in both cases, and scratch.code the codes of the feature.
template <class Criterion, class Sample>
FeatureKind random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                           std::uint32_t feature, bool scored, Stream& stream, SplitScratch& scratch,
                           Split& best);

// The largest bin in [first, last) whose representative value is <= threshold.
std::uint8_t last_bin_below(const double* values, std::uint8_t first, std::uint8_t last, double threshold);

}  // namespace surewood
