#include "forest/bin_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace surewood {

namespace {

// The first index from `begin` on with cumulative[index] >= target, or the end. Weights are at least 1, so it is not
// further away than the weight that is missing.
std::size_t first_reaching(const std::vector<double>& cumulative, std::size_t begin, double target) {
  const std::size_t n = cumulative.size();
  if (begin >= n) return n;
  const double gap = target - cumulative[begin];
  if (gap <= 0) return begin;
  const std::size_t end = gap < static_cast<double>(n - begin) ? begin + static_cast<std::size_t>(gap) + 2 : n;
  const auto from = cumulative.begin();
  return static_cast<std::size_t>(std::lower_bound(from + begin, from + std::min(end, n), target) - from);
}

// The values heavy enough to fill a bin of what the heavier ones leave; `total` and `bins_left` are for the rest.
bool find_heavy(const std::vector<double>& cumulative, double& total, std::int64_t& bins_left,
                std::vector<std::uint8_t>& heavy) {
  const std::size_t n = cumulative.size();
  const auto max_bins = bins_left;
  std::int64_t n_heavy = 0;
  heavy.assign(n, 0);
  for (;;) {
    std::int64_t more = 0;
    double weight = 0.0, before = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double mass = cumulative[i] - before;
      before = cumulative[i];
      if (heavy[i] || !(mass * static_cast<double>(bins_left) >= total)) continue;
      heavy[i] = 1;
      weight += mass;
      ++more;
    }
    if (more == 0) break;
    n_heavy += more;
    total -= weight;  // whole numbers: exact
    bins_left = max_bins - n_heavy;
    if (bins_left < 1 || total <= 0) break;
  }
  return n_heavy > 0;
}

// The last value of each bin where heavy values stand alone; false if that makes too many bins.
bool cut_around_heavy(const std::vector<double>& cumulative, const std::vector<std::uint8_t>& heavy, double total,
                      std::int64_t bins_left, std::size_t max_bins, std::vector<std::size_t>& last) {
  const std::size_t n = cumulative.size();
  std::int64_t runs = 0;  // heavy values cut the light runs too: leave room for that
  for (std::size_t i = 1; i < n; ++i) runs += heavy[i] && !heavy[i - 1];
  const auto bins = static_cast<double>(std::max<std::int64_t>(bins_left - runs, 1));
  double light = 0.0, before = 0.0;
  std::int32_t place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    light += heavy[i] ? 0.0 : cumulative[i] - before;
    before = cumulative[i];
    const double exact = light * bins / total;
    auto own = static_cast<std::int32_t>(exact);
    own += static_cast<double>(own) < exact;  // rounded up
    if (i > 0 && (own != place || heavy[i] || heavy[i - 1])) last.push_back(i - 1);
    place = own;
  }
  last.push_back(n - 1);
  return last.size() <= max_bins;
}

std::vector<std::size_t> find_cuts(const std::vector<double>& cumulative, std::size_t max_bins) {
  const std::size_t n = cumulative.size();
  std::vector<std::size_t> last;
  std::vector<std::uint8_t> heavy;
  double total = cumulative.back();
  auto bins_left = static_cast<std::int64_t>(max_bins);
  if (find_heavy(cumulative, total, bins_left, heavy) && bins_left > 0 && total > 0 &&
      cut_around_heavy(cumulative, heavy, total, bins_left, max_bins, last))
    return last;
  last.clear();
  std::size_t at = 0;
  for (std::size_t k = 1; k < max_bins; ++k) {
    const double target = cumulative.back() * static_cast<double>(k) / static_cast<double>(max_bins);
    at = first_reaching(cumulative, at, target);
    if (at < n - 1 && (last.empty() || last.back() != at)) last.push_back(at);
  }
  last.push_back(n - 1);
  return last;
}

}  // namespace

std::size_t add_number_bins(const Distribution& column, std::size_t max_bins, NumberBins& out) {
  const std::vector<double>&values = column.values, &cumulative = column.cumulative;
  const std::size_t n = values.size();
  if (n == 0) {
    out.values.push_back(0.0);
    out.edges.push_back(std::numeric_limits<double>::infinity());
    return 1;
  }
  const bool apart = n <= max_bins;
  const std::vector<std::size_t> last = apart ? std::vector<std::size_t>() : find_cuts(cumulative, max_bins);
  const std::size_t n_bins = apart ? n : last.size();
  for (std::size_t b = 0; b < n_bins; ++b) {
    const std::size_t from = apart ? b : b == 0 ? 0 : last[b - 1] + 1, to = apart ? b : last[b];
    const double below = from == 0 ? 0.0 : cumulative[from - 1];
    const std::size_t middle = apart ? b : first_reaching(cumulative, from, (below + cumulative[to]) / 2);
    out.values.push_back(values[std::min(middle, to)]);
    if (b + 1 == n_bins) break;
    out.edges.push_back(edge_between(values[to], values[to + 1]));
  }
  out.edges.push_back(std::numeric_limits<double>::infinity());
  return n_bins;
}

}  // namespace surewood
