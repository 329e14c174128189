// The best split of one feature by a sorted scan: any number of classes, any weights, both criteria,
// numbers with missing values, categories. The histogram kernels are faster where they apply and must
// agree with this one; tests/trees holds the NumPy reference of both.
#pragma once

#include "forest/criterion.hpp"
#include "forest/split.hpp"

namespace surewood {

// Looks for a split of `feature` better than `best` and puts it there (its left class weights into
// scratch.best_left). An equal score does not replace: the feature drawn first wins.
//
// Numbers are scanned by ascending bin, with missing values on the right, then on the left. Categories
// are ordered by the smoothed frequency of the node's majority class, ties by code, and pay for their number
// (CategoryPrior); missing is one more category.
template <class Criterion, class Sample>
FeatureKind scan_feature(const NodeView<Sample>& node, const ColumnView& column, const ColumnInfo& info,
                         std::uint32_t feature, SplitScratch& scratch, Split& best);

}  // namespace surewood
