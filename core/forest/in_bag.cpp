#include "forest/in_bag.hpp"

#include <algorithm>

#include "common/rng.hpp"

namespace surewood {

namespace {
constexpr std::uint64_t kBagId = 0xBA6;  // child id of the tree key, unlike any node's
}

std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree) { return stream_key(seed, {tree}); }

std::vector<std::uint32_t> in_bag_counts(const RowSampler& sampler, std::uint64_t key) {
  const std::uint32_t n = sampler.n;
  if (sampler.group) {
    RowSampler of_groups;
    of_groups.sampling = sampler.sampling;
    of_groups.n = sampler.n_groups;
    of_groups.n_draws = sampler.n_draws;
    const std::vector<std::uint32_t> drawn = in_bag_counts(of_groups, key);
    std::vector<std::uint32_t> counts(n);
    std::transform(sampler.group, sampler.group + n, counts.begin(), [&](std::uint32_t group) { return drawn[group]; });
    return counts;
  }
  std::vector<std::uint32_t> counts(n, sampler.sampling == Sampling::kAll ? 1u : 0u);
  Stream stream(child_key(key, kBagId));
  auto row_of = [&](std::uint32_t unit) { return sampler.units ? sampler.units[unit] : unit; };
  const std::uint32_t n_units = sampler.units ? sampler.n_units : n;
  if (sampler.sampling == Sampling::kBootstrap) {
    for (std::uint32_t i = 0; i < sampler.n_draws; ++i) ++counts[row_of(stream.below(n_units))];
  } else if (sampler.sampling == Sampling::kSubsample) {
    // Selection sampling: each unit is taken with probability (still wanted) / (still left).
    std::uint32_t wanted = std::min(sampler.n_draws, n_units);
    for (std::uint32_t i = 0; i < n_units && wanted > 0; ++i)
      if (stream.below(n_units - i) < wanted) {
        ++counts[row_of(i)];
        --wanted;
      }
  } else if (sampler.sampling == Sampling::kResample) {
    std::vector<std::uint64_t> cumulative(n);
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < n; ++i) cumulative[i] = total += sampler.weight ? sampler.weight[i] : 1u;
    for (std::uint32_t i = 0; i < sampler.n_draws; ++i) {
      auto target = static_cast<std::uint64_t>(stream.uniform() * static_cast<double>(total));
      auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target) - cumulative.begin();
      ++counts[std::min<std::size_t>(static_cast<std::size_t>(found), n - 1)];
    }
  }
  return counts;
}

std::vector<std::uint64_t> row_keys(const Bins& bins) {
  constexpr std::uint32_t kStrip = 2048;  // keys of a strip stay in cache while all columns pass
  constexpr std::size_t kColumns = 8;     // a key stays in a register meanwhile
  std::vector<std::uint64_t> keys(bins.n_rows, kGolden);
  auto add = [](std::uint64_t key, std::uint8_t code) { return (key ^ (code + 1u)) * kGolden; };
  const std::size_t width = bins.n_columns();
  for (std::uint32_t begin = 0; begin < bins.n_rows; begin += kStrip) {
    const std::uint32_t end = std::min(begin + kStrip, bins.n_rows);
    std::size_t j = 0;
    for (; j + kColumns <= width; j += kColumns) {
      const ColumnView* column = bins.by_column.data() + j;
      for (std::uint32_t i = begin; i < end; ++i) {
        std::uint64_t key = keys[i];
        for (std::size_t k = 0; k < kColumns; ++k) key = add(key, column[k].codes[i]);
        keys[i] = key;
      }
    }
    for (; j < width; ++j)
      for (std::uint32_t i = begin; i < end; ++i) keys[i] = add(keys[i], bins.by_column[j].codes[i]);
    for (std::uint32_t i = begin; i < end; ++i) keys[i] = mix64(keys[i]);
  }
  return keys;
}

}  // namespace surewood
