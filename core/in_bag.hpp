// Which rows a tree sees, and how often: bootstrap, subsample, weighted resample, or all rows once.
#pragma once

#include <cstdint>
#include <vector>

namespace surewood {

enum class Sampling : int { kAll = 0, kBootstrap = 1, kSubsample = 2, kResample = 3 };

// The key of tree number `tree` of a forest with this seed; its root node and its draws derive from it.
std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree);

// How often each of `n` rows is in the bag of the tree with key `key`. `n_draws` rows are drawn (ignored by
// kAll, at most n for kSubsample). `weight` (n values, kResample only) gives the probabilities.
std::vector<std::uint32_t> in_bag_counts(Sampling sampling, std::uint32_t n, std::uint32_t n_draws,
                                         std::uint64_t key, const std::uint32_t* weight);

}  // namespace surewood
