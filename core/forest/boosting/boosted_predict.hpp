// Scores of boosted trees: the values of the leaves that a row ends in, added up tree after tree.
#pragma once

#include <cstdint>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"

namespace surewood {

// Adds the scores of rows begin ... end - 1 to `out` (rows by outputs). `values`: one per node and output. Trees of whole
// nodes; symmetric ones are recognised, and rows go through them a level at a time.
void add_boosted_scores(const ForestView& forest, const float* values, std::uint32_t n_outputs, const Bins& bins,
                        std::uint32_t begin, std::uint32_t end, double* out);

}  // namespace surewood
