// Exact Shapley values of a forest's class vectors for pairs of a row and a background row.
//
// The value of a set of groups of columns is the class vector of the mixed row that has these columns of the row and
// the others of the background row. In a tree it only depends on the groups at whose splits the two rows part. A walk
// takes both ways where they part for the first time; a leaf that is reached with the row's side of s groups and the
// background row's side of r others is the mixed row's leaf for every set with the former and without the latter, so it
// adds (s - 1)! r! / (s + r)! of its vector to each of the s and takes s! (r - 1)! / (s + r)! from each of the r.
#pragma once

#include <cstdint>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"

namespace surewood {

// Adds, for rows begin ... end - 1 of `rows`, the sums over all trees and all rows of `background` to
// out[((row - begin) * n_groups + group) * n_classes + class]. `group_of` has the group of each column, below n_groups.
void shapley_codes(const ForestView& forest, const Bins& rows, std::uint32_t begin, std::uint32_t end,
                   const Bins& background, const std::uint32_t* group_of, std::uint32_t n_groups, double* out);

}  // namespace surewood
