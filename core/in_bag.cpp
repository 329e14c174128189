#include "in_bag.hpp"

#include <algorithm>

#include "rng.hpp"

namespace surewood {

namespace {
constexpr std::uint64_t kBagId = 0xBA6;  // child id of the tree key; node keys use 0, 1, 2
}

std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree) { return stream_key(seed, {tree}); }

std::vector<std::uint32_t> in_bag_counts(Sampling sampling, std::uint32_t n, std::uint32_t n_draws,
                                         std::uint64_t key, const std::uint32_t* weight) {
  std::vector<std::uint32_t> counts(n, sampling == Sampling::kAll ? 1u : 0u);
  Stream stream(child_key(key, kBagId));
  if (sampling == Sampling::kBootstrap) {
    for (std::uint32_t i = 0; i < n_draws; ++i) ++counts[stream.below(n)];
  } else if (sampling == Sampling::kSubsample) {
    // Selection sampling: each row is taken with probability (still wanted) / (still left).
    std::uint32_t wanted = std::min(n_draws, n);
    for (std::uint32_t i = 0; i < n && wanted > 0; ++i)
      if (stream.below(n - i) < wanted) {
        counts[i] = 1;
        --wanted;
      }
  } else if (sampling == Sampling::kResample) {
    std::vector<std::uint64_t> cumulative(n);
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < n; ++i) cumulative[i] = total += weight ? weight[i] : 1u;
    for (std::uint32_t i = 0; i < n_draws; ++i) {
      auto target = static_cast<std::uint64_t>(stream.uniform() * static_cast<double>(total));
      auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target) - cumulative.begin();
      ++counts[std::min<std::size_t>(static_cast<std::size_t>(found), n - 1)];
    }
  }
  return counts;
}

}  // namespace surewood
