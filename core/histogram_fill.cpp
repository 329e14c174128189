// Gathering codes and adding samples to histograms: scalar work, bound by loads and stores.
#include <cstdint>

#include "histogram.hpp"

namespace surewood {

HistogramScratch::HistogramScratch() {
  const std::size_t bytes = (kBatch + 1) * kCellBytes + kBatch * (256 + 1024);
  memory_ = std::make_unique<std::uint8_t[]>(bytes + 64);  // zeroed
  base_ = memory_.get() + (64 - reinterpret_cast<std::uintptr_t>(memory_.get()) % 64) % 64;
}

namespace {

template <class Word, int kShift>
struct PairAdder {
  using Cell = Word;
  explicit PairAdder(std::uint32_t) {}
  template <class Sample>
  void operator()(Cell* cells, std::uint32_t code, const Sample& sample) const {
    cells[code] += static_cast<Word>(sample.weight()) << (kShift * sample.label()) |
                   static_cast<Word>(sample.weight());
  }
};

// Rows are powers of two long, so a shift finds them.
template <class Number>
struct RowAdder {
  using Cell = Number;
  explicit RowAdder(std::uint32_t n_labels) {
    for (std::uint32_t tier = label_tier(n_labels); tier > 1; tier /= 2) ++shift;
  }
  template <class Sample>
  void operator()(Cell* cells, std::uint32_t code, const Sample& sample) const {
    Cell& cell = cells[(code << shift) + sample.label()];
    cell = static_cast<Cell>(cell + static_cast<Cell>(sample.weight()));
  }
  std::uint32_t shift = 0;
};

template <class Adder, Seen kSeen, bool kByRow, int kFeatures, class Sample>
void fill(const NodeView<Sample>& node, const BatchFeature* features, HistogramScratch& histograms,
          std::uint64_t* word) {
  using Cell = typename Adder::Cell;
  const Adder add(node.n_labels);
  const std::uint8_t* codes[kFeatures];
  std::size_t stride[kFeatures];
  std::uint64_t bits[kFeatures];
  Cell* cells = histograms.cells<Cell>(0);
  constexpr std::size_t kCells = HistogramScratch::kCellBytes / sizeof(Cell);
  std::uint8_t* seen = histograms.seen(0);
  std::uint32_t* rows = histograms.rows(0);
  for (int f = 0; f < kFeatures; ++f) {
    codes[f] = features[f].column.codes;
    stride[f] = features[f].column.stride;
    bits[f] = 0;
  }
  const Sample* samples = node.samples;
  const std::uint32_t n = node.n;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Sample sample = samples[i];
    for (int f = 0; f < kFeatures; ++f) {
      const std::uint32_t code = codes[f][kByRow ? sample.row() * stride[f] : sample.row()];
      add(cells + f * kCells, code, sample);
      if constexpr (kSeen == Seen::kWord) bits[f] |= 1ull << code;
      if constexpr (kSeen == Seen::kByte) seen[f * 256 + code] = 0xFF;
      if constexpr (kSeen == Seen::kRows) ++rows[f * 256 + code];
    }
  }
  if constexpr (kSeen == Seen::kWord)
    for (int f = 0; f < kFeatures; ++f) word[f] = bits[f];
}

template <class Adder, Seen kSeen, bool kByRow, class Sample>
void fill_number(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                 HistogramScratch& histograms, std::uint64_t* word) {
  switch (n_features) {
    case 1: return fill<Adder, kSeen, kByRow, 1>(node, features, histograms, word);
    case 2: return fill<Adder, kSeen, kByRow, 2>(node, features, histograms, word);
    case 3: return fill<Adder, kSeen, kByRow, 3>(node, features, histograms, word);
    default: return fill<Adder, kSeen, kByRow, 4>(node, features, histograms, word);
  }
}

template <class Adder, class Sample>
void fill_seen(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
               HistogramScratch& histograms, std::uint64_t* word) {
  bool by_row = false;
  for (int f = 0; f < n_features; ++f) by_row |= features[f].column.stride != 1;
  if (seen == Seen::kRows)  // leaf-size limits: one variant is enough
    return fill_number<Adder, Seen::kRows, true>(node, features, n_features, histograms, word);
  if (by_row)
    return seen == Seen::kWord ? fill_number<Adder, Seen::kWord, true>(node, features, n_features, histograms, word)
                               : fill_number<Adder, Seen::kByte, true>(node, features, n_features, histograms, word);
  return seen == Seen::kWord ? fill_number<Adder, Seen::kWord, false>(node, features, n_features, histograms, word)
                             : fill_number<Adder, Seen::kByte, false>(node, features, n_features, histograms, word);
}

}  // namespace

template <class Sample>
void fill_histograms(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
                     HistogramScratch& histograms, std::uint64_t* word) {
  switch (cell_tier(node)) {
    case Tier::kPair32:
      return fill_seen<PairAdder<std::uint32_t, 16>>(node, features, n_features, seen, histograms, word);
    case Tier::kPair64:
      return fill_seen<PairAdder<std::uint64_t, 32>>(node, features, n_features, seen, histograms, word);
    case Tier::kRow16:
      return fill_seen<RowAdder<std::int16_t>>(node, features, n_features, seen, histograms, word);
    case Tier::kRow32:
      return fill_seen<RowAdder<std::uint32_t>>(node, features, n_features, seen, histograms, word);
  }
}

template void fill_histograms<NarrowSample>(const NodeView<NarrowSample>&, const BatchFeature*, int, Seen,
                                            HistogramScratch&, std::uint64_t*);
template void fill_histograms<WideSample>(const NodeView<WideSample>&, const BatchFeature*, int, Seen,
                                          HistogramScratch&, std::uint64_t*);

}  // namespace surewood
