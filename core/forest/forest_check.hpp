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

// The largest bin that splits by number compare with, for each feature; -1 for none. The nodes have no flaw.
void last_bins(const ForestView& forest, std::int32_t* last_bin);

}  // namespace surewood
