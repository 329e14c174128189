// Whether the arrays of a forest can be read safely: the descents, the leaf sums and their loops trust every number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forest/forest_view.hpp"

namespace surewood {

// Lengths of the arrays of a forest.
struct ForestSizes {
  std::int64_t nodes, leaves, categories;
};

// What is wrong with the starts of the trees and with the scalars, as a sentence without its full stop; empty: nothing.
// The time of a few numbers per tree: done at every call.
std::string flaw_of_starts(const ForestView& forest, const ForestSizes& sizes);

// The same for all nodes and leaves, one pass over them; the starts are in order already. A child lies after its parent
// and inside its tree; features, classes, leaf offsets and category entries are in range; probabilities are numbers
// from 0 to 1, the weights of a leaf's classes sum to its own.
std::string flaw_of_nodes(const ForestView& forest);

// The largest bin that splits by number compare with, for each feature; -1 for none. The nodes have no flaw.
void last_bins(const ForestView& forest, std::int32_t* last_bin);

}  // namespace surewood
