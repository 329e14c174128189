// Which rows a tree sees, and how often: bootstrap, subsample, weighted resample, or all rows once.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/bins.hpp"

namespace surewood {

enum class Sampling : int { kAll = 0, kBootstrap = 1, kSubsample = 2, kResample = 3 };

// Ids of child keys: the root's from its tree's key, a child's from its parent's.
constexpr std::uint64_t kRootId = 2, kLeftId = 0, kRightId = 1;

// The key of tree number `tree` of a forest with this seed; its root node and its draws derive from it.
std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree);

// From what a tree's bag is drawn. A unit is one chance to be drawn; it belongs to a row. Rows are units of
// their own, in an order that depends on their content (so that shuffling rows changes no forest); where weights
// are counts, a row of weight 2 has two units, exactly as the row twice would. With groups the units are these, and
// what is drawn of a group are all of its rows.
struct RowSampler {
  Sampling sampling = Sampling::kAll;
  std::uint32_t n = 0;                   // rows
  const std::uint32_t* units = nullptr;  // row of each unit, or null: unit i is row i
  std::uint32_t n_units = 0;
  std::uint32_t n_draws = 0;              // units drawn a tree (at most n_units for kSubsample)
  const std::uint32_t* weight = nullptr;  // n values, kResample only: probabilities
  const std::uint32_t* group = nullptr;   // of each row, or null; not with kResample
  std::uint32_t n_groups = 0;
};

// How often each row is in the bag of the tree with key `key`.
std::vector<std::uint32_t> in_bag_counts(const RowSampler& sampler, std::uint64_t key);

// A number for the codes of each row. The same rows get the same numbers in any order, and whether the columns come in
// one block or in several. Labels stay out of it: what a tree draws must not depend on them.
std::vector<std::uint64_t> row_keys(const Bins& bins);

}  // namespace surewood
