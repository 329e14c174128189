// Grows classification trees on binned data: the only entry is grow_trees, a batch of trees of one forest.
//
// A tree is a function of (training set, options, seed, its number): nothing depends on which trees
// share its batch or on threads. Every node has a random stream keyed by its path from the root, so the
// tree grown to depth M is the top of the tree grown deeper.
#pragma once

#include <cstdint>
#include <functional>

#include "forest/bins.hpp"
#include "forest/criterion.hpp"
#include "forest/flat_tree.hpp"
#include "forest/in_bag.hpp"

namespace surewood {

enum class Splitter : int { kBest = 0, kRandom = 1, kCompletelyRandom = 2 };

struct GrowOptions {
  Splitter splitter = Splitter::kBest;
  CriterionKind criterion = CriterionKind::kGini;
  std::uint32_t max_depth = 0xFFFFFFFFu;
  // A node this deep or deeper is not split where it holds at most so many rows.
  std::uint32_t stop_depth = 0, stop_rows = 0;
  std::uint32_t min_samples_split = 2;  // rows, as in scikit-learn: a row of weight 3 is one row
  std::uint32_t min_samples_leaf = 1;
  double min_weight_fraction_leaf = 0.0;  // of the weight in the tree's bag
  double min_impurity_decrease = 0.0;
  // Features tried at a node (completely random trees: always 1). A constant one counts, but the search goes on
  // until one varies.
  std::uint32_t max_features = 1;
  double row_weight = 1.0;   // what a row weighs where categories are smoothed by a number of rows
  RowSampler sampler;        // its n is the number of training rows
  bool fast_kernels = true;  // false: the sorted scan everywhere (same trees; for tests)

  bool is_small(std::uint32_t n, std::uint32_t depth) const {
    return n < min_samples_split || (n <= stop_rows && depth >= stop_depth);
  }
};

struct TrainingSet {
  const Bins* bins = nullptr;
  const std::uint16_t* label = nullptr;  // class of each row of the matrix
  std::uint32_t n_classes = 1;
  const std::uint32_t* rows = nullptr;  // rows of the matrix to train on
  std::uint32_t n = 0;                  // how many
  // One positive integer per entry of `rows`, which multiplies its number of draws, or null: all 1.
  const std::uint32_t* weight = nullptr;
};

// Row visits after which a growing tree asks whether it was interrupted.
constexpr std::uint64_t kVisitsBetweenChecks = 1u << 23;

// Grows trees first_tree ... first_tree + n_trees - 1 of the forest with this seed. `importance`
// (n_columns) receives the sum over trees of each tree's normalised impurity decreases. `interrupted` is
// asked every few million row visits; when it returns true the function stops and returns false.
bool grow_trees(const TrainingSet& training, const GrowOptions& options, std::uint64_t seed, std::uint64_t first_tree,
                std::uint32_t n_trees, const std::function<bool()>& interrupted, TreeArrays& out, double* importance);

}  // namespace surewood
