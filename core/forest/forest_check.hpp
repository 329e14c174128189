// Whether the arrays of a forest can be read safely: the descents, the leaf sums and their loops trust every number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forest/flat_tree.hpp"

namespace surewood {

// Lengths of the arrays of a forest.
struct ForestSizes {
  std::int64_t nodes, leaves, categories;
};

// What is wrong with a forest, as a sentence without its full stop; empty: nothing. Starts ascend and end where the arrays
// do; a child lies after its parent and inside its tree; features, classes, leaf offsets and category entries are in
// range; probabilities are numbers from 0 to 1, the weights of a leaf's classes sum to its own.
std::string flaw_of_forest(const ForestView& forest, const ForestSizes& sizes);

// Whether splits by number compare only with bins that their feature has: bins offset[j] ... offset[j + 1] - 1 are those
// of feature j. The nodes have no flaw.
bool splits_fit(const ForestView& forest, const std::int64_t* offset);

}  // namespace surewood
