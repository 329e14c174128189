// Second-order gradient boosting of the softmax loss on bin codes: one tree with a vector of values per leaf and round.
//
// Everything that is summed over rows is an integer: gradients and hessians are rounded with random bits of the row's
// content, losses to a fixed fraction. A model therefore depends on the data, the options and the seed, not on the order
// of the rows or on the machine (docs/theory.md §13; tests/trees/reference_boosting.py is the specification).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "forest/bins.hpp"
#include "forest/flat_tree.hpp"

namespace surewood {

enum class Role : std::uint8_t { kAbsent = 0, kTraining = 1, kHeldOut = 2 };

struct BoostingRows {
  const Bins* bins = nullptr;
  const std::uint8_t* n_bins = nullptr;       // of each column, missing values apart
  const std::uint8_t* has_missing = nullptr;  // whether each column has the missing code
  const std::int8_t* monotone = nullptr;      // 1: scores ascend with the column, -1: they descend, 0: either; or none
  const std::uint32_t* columns = nullptr;     // that trees may use
  std::uint32_t n_columns = 0;
  const std::uint16_t* label = nullptr;
  const double* weight = nullptr;  // or none
  const std::uint64_t* key = nullptr;  // of each row's content
  const Role* role = nullptr;
  std::uint32_t n_classes = 2;
};

struct BoostingOptions {
  bool symmetric = true;      // one split per level for all leaves; else leaf by leaf, the largest gain first
  std::uint32_t depth = 6;    // of symmetric trees, at most 8
  std::uint32_t max_leaves = 31;  // of the others
  std::uint32_t n_rounds = 100;
  std::uint32_t patience = 20;  // rounds without a smaller held-out loss before the end, besides as many as gave it
  double learning_rate = 0.1;
  double l2 = 1.0;
  double min_hessian = 1e-3;  // of a side of a split
  std::uint32_t min_rows = 1;
  double leaf_penalty = 0.0, split_penalty = 0.0;  // what each further leaf and each split must gain
  std::uint32_t columns_per_tree = 1;
  double row_fraction = 1.0;  // of the training rows, drawn for every tree
  std::uint64_t seed = 0;
};

struct BoostedTrees {
  std::vector<Node> nodes;  // tree after tree; symmetric ones with node k's children at 2k + 1 and 2k + 2
  std::vector<float> values;  // one per node and output; 0 for splits
  std::vector<std::int64_t> node_start{0};
  std::vector<double> gains;   // of the splits on each column
  std::vector<double> losses;  // before the first and after every round, of the held-out rows and one failure; empty without such rows
};

// Outputs of a model: two classes have one, the log-odds of the second.
inline std::uint32_t output_count(std::uint32_t n_classes) { return n_classes == 2 ? 1 : n_classes; }

// Boosting from `baseline` (one score per output) until `stopped()`, which is asked after every round.
BoostedTrees boost(const BoostingRows& rows, const BoostingOptions& options, const double* baseline,
                   const std::function<bool()>& stopped);

}  // namespace surewood
