// Batches of trees: which rows each sees, with samples as short as their weights allow, and which growth it takes.
#include "forest/tree_builder.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "forest/random_growth.hpp"
#include "forest/searched_growth.hpp"

namespace surewood {

namespace {

// Bootstrap counts times sample weights; halved together until they sum to less than 2^31.
std::vector<std::uint32_t> tree_weights(const TrainingSet& training, const GrowOptions& options, std::uint64_t key) {
  std::vector<std::uint32_t> counts = in_bag_counts(options.sampler, key);
  if (training.weight == nullptr) return counts;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < training.n; ++i) total += std::uint64_t(counts[i]) * training.weight[i];
  int shift = 0;
  while ((total >> shift) + training.n >= (1ull << 31)) ++shift;
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (counts[i] == 0) continue;
    std::uint64_t weight = std::uint64_t(counts[i]) * training.weight[i] >> shift;
    counts[i] = static_cast<std::uint32_t>(std::max<std::uint64_t>(weight, 1));
  }
  return counts;
}

template <class Sample>
void fill_bag(const TrainingSet& training, const std::vector<std::uint32_t>& weights, std::vector<Sample>& samples) {
  samples.clear();
  for (std::uint32_t i = 0; i < training.n; ++i) {
    if (weights[i] == 0) continue;
    samples.emplace_back(training.rows[i], training.label[training.rows[i]], weights[i]);
  }
}

struct Batch {
  const TrainingSet& training;
  const GrowOptions& options;
  std::uint64_t seed, first_tree;
  std::uint32_t n_trees;
  const std::function<bool()>& interrupted;
};

template <template <class> class Growth>
bool grow_batch(const Batch& batch, TreeArrays& out, double* importance) {
  Growth<NarrowSample> narrow(batch.training, batch.options, batch.interrupted, out);
  std::optional<Growth<WideSample>> wide;  // rarely needed
  std::vector<NarrowSample> narrow_bag;
  std::vector<WideSample> wide_bag;
  for (std::uint32_t k = 0; k < batch.n_trees; ++k) {
    if (batch.interrupted && batch.interrupted()) return false;
    const std::uint64_t key = tree_key(batch.seed, batch.first_tree + k);
    const std::vector<std::uint32_t> weights = tree_weights(batch.training, batch.options, key);
    bool done;
    if (*std::max_element(weights.begin(), weights.end()) <= NarrowSample::kMaxWeight) {
      fill_bag(batch.training, weights, narrow_bag);
      done = narrow.grow(narrow_bag, key, importance);
    } else {
      fill_bag(batch.training, weights, wide_bag);
      if (!wide) wide.emplace(batch.training, batch.options, batch.interrupted, out);
      done = wide->grow(wide_bag, key, importance);
    }
    if (!done) return false;
    if (k == 0) out.reserve_trees(batch.n_trees);
  }
  return true;
}

}  // namespace

bool grow_trees(const TrainingSet& training, const GrowOptions& options, std::uint64_t seed, std::uint64_t first_tree,
                std::uint32_t n_trees, const std::function<bool()>& interrupted, TreeArrays& out, double* importance) {
  out.node_start.assign(1, 0);
  out.leaf_start.assign(1, 0);
  out.category_start.assign(1, 0);
  const Batch batch{training, options, seed, first_tree, n_trees, interrupted};
  return grows_at_random(options) ? grow_batch<RandomGrowth>(batch, out, importance)
                                  : grow_batch<SearchedGrowth>(batch, out, importance);
}

}  // namespace surewood
