// Body of the histogram fill; included by forest/histogram.cpp once per instruction set, inside a namespace of its
// own (common/cpu.hpp).

template <class Word, int kShift>
struct PairAdder {
  using Cell = Word;
  SUREWOOD_INLINE explicit PairAdder(std::uint32_t) {}
  template <class Sample>
  SUREWOOD_INLINE void operator()(Cell* cells, std::uint32_t code, const Sample& sample) const {
    cells[code] += static_cast<Word>(sample.weight()) << (kShift * sample.label()) | static_cast<Word>(sample.weight());
  }
};

template <std::uint32_t kLabels>
struct HalfRowAdder {
  using Cell = std::int16_t;
  SUREWOOD_INLINE explicit HalfRowAdder(std::uint32_t) {}
  template <class Sample>
  SUREWOOD_INLINE void operator()(Cell* cells, std::uint32_t code, const Sample& sample) const {
    Cell& cell = cells[std::size_t(code) * kLabels + sample.label()];
    cell = static_cast<Cell>(cell + static_cast<Cell>(sample.weight()));
  }
};

// Large nodes only: their length may be looked up.
struct RowAdder {
  using Cell = std::uint32_t;
  SUREWOOD_INLINE explicit RowAdder(std::uint32_t n_labels) : length(label_tier(n_labels)) {}
  template <class Sample>
  SUREWOOD_INLINE void operator()(Cell* cells, std::uint32_t code, const Sample& sample) const {
    cells[std::size_t(code) * length + sample.label()] += sample.weight();
  }
  std::uint32_t length;
};

template <class Adder, Seen kSeen, bool kByRow, int kFeatures, class Sample>
SUREWOOD_INLINE void fill(const NodeView<Sample>& node, const BatchFeature* features, HistogramScratch& histograms,
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
SUREWOOD_INLINE void fill_number(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                                 HistogramScratch& histograms, std::uint64_t* word) {
  switch (n_features) {
    case 1:
      return fill<Adder, kSeen, kByRow, 1>(node, features, histograms, word);
    case 2:
      return fill<Adder, kSeen, kByRow, 2>(node, features, histograms, word);
    case 3:
      return fill<Adder, kSeen, kByRow, 3>(node, features, histograms, word);
    default:
      return fill<Adder, kSeen, kByRow, 4>(node, features, histograms, word);
  }
}

template <class Adder, class Sample>
SUREWOOD_INLINE void fill_seen(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
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

template <class Sample>
void fill_any(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
              HistogramScratch& histograms, std::uint64_t* word) {
#define SUREWOOD_RUN(...) return fill_seen<__VA_ARGS__>(node, features, n_features, seen, histograms, word)
  const std::uint32_t tier = label_tier(node.n_labels);
  switch (cell_tier(node)) {
    case Tier::kPair32:
      SUREWOOD_RUN(PairAdder<std::uint32_t, 16>);
    case Tier::kPair64:
      SUREWOOD_RUN(PairAdder<std::uint64_t, 32>);
    case Tier::kRow16:
      if (tier == 8) SUREWOOD_RUN(HalfRowAdder<8>);
      if (tier == 16) SUREWOOD_RUN(HalfRowAdder<16>);
      if (tier == 32) SUREWOOD_RUN(HalfRowAdder<32>);
      SUREWOOD_RUN(HalfRowAdder<64>);
    default:
      SUREWOOD_RUN(RowAdder);
  }
#undef SUREWOOD_RUN
}
