#include "forest/learn_bins.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "forest/bin_column.hpp"
#include "forest/distinct.hpp"
#include "forest/placed_numbers.hpp"

namespace surewood {

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
    const std::size_t own = std::min(width, end - first);
    copy_block(view, first, own, block.get());
    for (std::size_t c = 0; c < own; ++c) learner.learn(block.get() + c * n, codes_of(first + c));
  }
}

#define SUREWOOD_INSTANTIATE(Number)                                                                                \
  template void learn_bins<Number>(const NumberView<Number>&, std::size_t, std::size_t, const double*, std::size_t, \
                                   LearnedBins&, std::uint8_t*);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANTIATE)
#undef SUREWOOD_INSTANTIATE

}  // namespace surewood
