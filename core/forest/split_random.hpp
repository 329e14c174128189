// One random split of one feature: a threshold uniform in value space, or a random set of categories.
#pragma once

#include "common/rng.hpp"
#include "forest/criterion.hpp"
#include "forest/split.hpp"

namespace surewood {

// Draws a split of `feature` from `stream`, missing values on the right, and leaves the feature's codes, in sample
// order, in `codes`. False if the feature is constant in the node.
//
// Numbers: a threshold uniform between the smallest and the largest representative value of the node's
// bins (not between bin numbers: that would be another algorithm). Categories: a random non-trivial subset of those
// present.
template <class Sample>
bool draw_split(const Sample* samples, std::uint32_t n, const ColumnView& column, const ColumnInfo& info,
                std::uint32_t feature, Stream& stream, std::uint8_t* codes, Split& split);

// Whether the missing values of a drawn split may go either way.
inline bool two_sided(const Split& split) {
  return split.missing_seen && !split.category && split.first_right != kMissingCode;
}

// Draws a split, missing values to the better side, and puts it into `best` if it is better and limits allow it.
template <class Criterion, class Sample>
FeatureKind random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                           std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best);

// The same without comparing anything: missing values go to a random side, the score is 0. (forest/random_growth.hpp
// has the quicker way for trees without limits.)
template <class Sample>
FeatureKind completely_random_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                                      std::uint32_t feature, Stream& stream, SplitScratch& scratch, Split& best);

// The last bin left of a threshold drawn uniformly between the values of two bins.
std::uint8_t random_bin(const ColumnInfo& info, std::uint8_t low, std::uint8_t high, Stream& stream);

// The largest bin in [first, last) whose representative value is <= threshold.
std::uint8_t last_bin_below(const double* values, std::uint8_t first, std::uint8_t last, double threshold);

}  // namespace surewood
