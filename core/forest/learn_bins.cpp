#include "forest/learn_bins.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "forest/bin_column.hpp"
#include "forest/placed_numbers.hpp"

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
    auto bin = static_cast<std::int32_t>(exact);
    bin += static_cast<double>(bin) < exact;  // rounded up
    if (i > 0 && (bin != place || heavy[i] || heavy[i - 1])) last.push_back(i - 1);
    place = bin;
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

namespace {

constexpr std::size_t kBlockBytes = 1u << 20;  // of columns read together
constexpr std::size_t kBlockColumns = 32;
constexpr std::size_t kRowsAtOnce = 8;
constexpr std::size_t kRowsAhead = 16;  // fetched into the cache before they are copied

inline void fetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// Columns [first, first + width) one after another.
template <class Number>
void copy_block(const NumberView<Number>& view, std::size_t first, std::size_t width, Number* block) {
  const std::size_t n = view.n_rows, line = 64 / sizeof(Number);
  std::size_t row = 0;
  for (; row + kRowsAtOnce <= n; row += kRowsAtOnce) {
    if (row + kRowsAhead + kRowsAtOnce <= n)
      for (std::size_t i = 0; i < kRowsAtOnce; ++i)
        for (std::size_t c = 0; c < width + line; c += line)
          fetch(view.at(row + kRowsAhead + i, first + std::min(c, width - 1)));
    for (std::size_t c = 0; c < width; ++c) {
      Number part[kRowsAtOnce];
      copy_column(view, first + c, row, kRowsAtOnce, part);
      std::copy(part, part + kRowsAtOnce, block + c * n + row);
    }
  }
  for (std::size_t c = 0; c < width && row < n; ++c) copy_column(view, first + c, row, n - row, block + c * n + row);
}

// The column as floats; false if that loses something.
bool narrow(const double* column, std::size_t n, std::vector<float>& narrowed) {
  constexpr std::size_t kAtOnce = 256;  // most columns show themselves at once
  narrowed.resize(n);
  for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
    bool same = true;
    for (std::size_t i = begin; i < std::min(n, begin + kAtOnce); ++i) {
      narrowed[i] = static_cast<float>(column[i]);
      same &= static_cast<double>(narrowed[i]) == column[i] || column[i] != column[i];
    }
    if (!same) return false;
  }
  return true;
}

class ColumnLearner {
 public:
  ColumnLearner(std::size_t n, const double* weight, std::size_t max_bins, LearnedBins& out)
      : n_(n), weight_(weight), max_bins_(max_bins), out_(out) {}

  // A column whose numbers lie side by side; `codes` may be null.
  template <class Number>
  void learn(const Number* column, std::uint8_t* codes) {
    if (!finder_.count(column, n_, weight_, found_)) {
      if (weight_ == nullptr && learn_placed(column, codes)) return;
      finder_.sort(column, n_, weight_, found_);
    }
    add(add_number_bins(found_, max_bins_, out_.bins));
    if (codes != nullptr) search(column, codes);
  }

 private:
  void add(std::size_t n_bins) { out_.sizes.push_back(static_cast<std::int64_t>(n_bins)); }

  bool learn_placed(const float* column, std::uint8_t* codes) { return learn_placed(floats_, column, codes); }
  bool learn_placed(const double* column, std::uint8_t* codes) {
    return narrow(column, n_, narrowed_) ? learn_placed(floats_, narrowed_.data(), codes)
                                         : learn_placed(doubles_, column, codes);
  }
  template <class Whole>
  bool learn_placed(const Whole*, std::uint8_t*) {
    return false;
  }

  template <class Real>
  bool learn_placed(PlacedNumbers<Real>& placed, const Real* column, std::uint8_t* codes) {
    if (!placed.place(column, n_)) return false;
    std::size_t n_bins = placed.add_bins(max_bins_, out_.bins);
    if (n_bins == 0) {
      placed.collect(found_);
      n_bins = add_number_bins(found_, max_bins_, out_.bins);
      placed.cut(out_.bins.edges.data() + out_.bins.edges.size() - n_bins, n_bins);
    }
    add(n_bins);
    if (codes != nullptr && !placed.codes(codes)) search(column, codes);
    return true;
  }

  // Codes by the edges of the bins that were added last.
  template <class Number>
  void search(const Number* column, std::uint8_t* codes) const {
    const std::int64_t start[2] = {0, out_.sizes.back()};
    const double* edges = out_.bins.edges.data() + out_.bins.edges.size() - start[1];
    bin_columns(NumberView<Number>{column, n_, 1, 0}, 0, 1, edges, start, codes, n_);
  }

  std::size_t n_;
  const double* weight_;
  std::size_t max_bins_;
  LearnedBins& out_;
  Distribution found_;
  DistinctFinder finder_;
  PlacedNumbers<float> floats_;
  PlacedNumbers<double> doubles_;
  std::vector<float> narrowed_;
};

template <class Byte>
void learn_bytes(const NumberView<Byte>& view, std::size_t begin, std::size_t end, const double* weight,
                 std::size_t max_bins, LearnedBins& out, std::uint8_t* codes) {
  std::vector<std::int64_t> start(end + 1, static_cast<std::int64_t>(out.bins.edges.size()));
  count_bytes(view, begin, end, weight, [&](std::size_t j, const Distribution& found) {
    out.sizes.push_back(static_cast<std::int64_t>(add_number_bins(found, max_bins, out.bins)));
    start[j + 1] = start[j] + out.sizes.back();
  });
  if (codes != nullptr) bin_columns(view, begin, end, out.bins.edges.data(), start.data(), codes, view.n_rows);
}

}  // namespace

template <class Number>
void learn_bins(const NumberView<Number>& view, std::size_t begin, std::size_t end, const double* weight,
                std::size_t max_bins, LearnedBins& out, std::uint8_t* codes) {
  if constexpr (sizeof(Number) == 1) return learn_bytes(view, begin, end, weight, max_bins, out, codes);
  const std::size_t n = view.n_rows;
  ColumnLearner learner(n, weight, max_bins, out);
  const auto codes_of = [&](std::size_t j) { return codes == nullptr ? nullptr : codes + j * n; };
  if (view.row_stride == 1) {
    for (std::size_t j = begin; j < end; ++j) learner.learn(view.at(0, j), codes_of(j));
    return;
  }
  const std::size_t least = 64 / sizeof(Number);  // columns of a line of memory
  const std::size_t width =
      std::max(least, std::min(kBlockColumns, kBlockBytes / (sizeof(Number) * std::max<std::size_t>(n, 1))));
  const std::unique_ptr<Number[]> block(new Number[std::min(width, end - begin) * n]);  // not filled twice
  for (std::size_t first = begin; first < end; first += width) {
    const std::size_t n_read = std::min(width, end - first);
    copy_block(view, first, n_read, block.get());
    for (std::size_t c = 0; c < n_read; ++c) learner.learn(block.get() + c * n, codes_of(first + c));
  }
}

#define SUREWOOD_INSTANTIATE(Number)                                                                                \
  template void learn_bins<Number>(const NumberView<Number>&, std::size_t, std::size_t, const double*, std::size_t, \
                                   LearnedBins&, std::uint8_t*);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANTIATE)
#undef SUREWOOD_INSTANTIATE

}  // namespace surewood
