// Body of the histogram kernels; included by histogram.cpp once for each instruction set, inside a namespace
// of its own, with SUREWOOD_TARGET set to the function attribute of that set. See histogram.hpp.

// ---- cells -------------------------------------------------------------------------------------------

template <class Word, int kShift>
struct PairCells {
  using Cell = Word;
  static constexpr std::uint32_t kWidth = 2;
  static constexpr int kShiftBits = kShift;
  template <class Sample>
  static SUREWOOD_INLINE void add(Cell* cells, std::uint32_t code, const Sample& sample) {
    cells[code] += static_cast<Word>(sample.weight) * (Word(1) + (static_cast<Word>(sample.label) << kShift));
  }
};

template <class Number, class Product, std::uint32_t kLabels>
struct RowCells {
  using Cell = Number;
  using Sum = Product;
  static constexpr std::uint32_t kWidth = kLabels;
  template <class Sample>
  static SUREWOOD_INLINE void add(Cell* cells, std::uint32_t code, const Sample& sample) {
    cells[code * kLabels + sample.label] += static_cast<Number>(sample.weight);
  }
};

// ---- filling -----------------------------------------------------------------------------------------

enum class Seen { kWord, kByte, kRows };

// Adds all samples to the histograms of kFeatures features. Returns occupied bins in `word` (kWord only).
template <class Cells, Seen kSeen, int kFeatures, class Sample>
SUREWOOD_INLINE void fill(const NodeView<Sample>& node, const BatchFeature* features, HistogramScratch& scratch,
                          std::uint64_t* word) {
  const std::uint8_t* codes[kFeatures];
  std::size_t stride[kFeatures];
  typename Cells::Cell* cells[kFeatures];
  std::uint8_t* seen[kFeatures];
  std::uint32_t* rows[kFeatures];
  std::uint64_t bits[kFeatures];
  for (int f = 0; f < kFeatures; ++f) {
    codes[f] = features[f].column.codes;
    stride[f] = features[f].column.stride;
    cells[f] = static_cast<typename Cells::Cell*>(scratch.cells(f));
    seen[f] = scratch.seen(f);
    rows[f] = scratch.rows(f);
    bits[f] = 0;
  }
  for (std::uint32_t i = 0; i < node.n; ++i) {
    const Sample sample = node.samples[i];
    for (int f = 0; f < kFeatures; ++f) {
      std::uint32_t code = codes[f][sample.row * stride[f]];
      Cells::add(cells[f], code, sample);
      if constexpr (kSeen == Seen::kWord) bits[f] |= 1ull << code;
      if constexpr (kSeen == Seen::kByte) seen[f][code] = 0xFF;
      if constexpr (kSeen == Seen::kRows) ++rows[f][code];
    }
  }
  if constexpr (kSeen == Seen::kWord)
    for (int f = 0; f < kFeatures; ++f) word[f] = bits[f];
}

template <class Cells, Seen kSeen, class Sample>
SUREWOOD_INLINE void fill_some(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                               HistogramScratch& scratch, std::uint64_t* word) {
  switch (n_features) {
    case 1: return fill<Cells, kSeen, 1>(node, features, scratch, word);
    case 2: return fill<Cells, kSeen, 2>(node, features, scratch, word);
    case 3: return fill<Cells, kSeen, 3>(node, features, scratch, word);
    default: return fill<Cells, kSeen, 4>(node, features, scratch, word);
  }
}

// ---- occupied bins -----------------------------------------------------------------------------------

SUREWOOD_INLINE std::uint32_t append_bits(std::uint64_t bits, std::uint32_t base, std::uint8_t* order,
                                          std::uint32_t count) {
  for (; bits; bits &= bits - 1) order[count++] = static_cast<std::uint8_t>(base + lowest_bit(bits));
  return count;
}

// Bins whose byte is set, ascending; clears the bytes.
SUREWOOD_INLINE std::uint32_t take_seen(std::uint8_t* seen, std::uint8_t* order) {
  std::uint32_t count = 0;
  for (std::uint32_t base = 0; base < 256; base += 64) {
    std::uint64_t bits = sign_bits(seen + base);
    if (bits == 0) continue;
    std::memset(seen + base, 0, 64);
    count = append_bits(bits, base, order, count);
  }
  return count;
}

SUREWOOD_INLINE std::uint32_t take_rows(const std::uint32_t* rows, std::uint8_t* order) {
  std::uint32_t count = 0;
  for (std::uint32_t code = 0; code < 256; ++code)
    if (rows[code] != 0) order[count++] = static_cast<std::uint8_t>(code);
  return count;
}

// ---- sweeping ----------------------------------------------------------------------------------------

// What the cuts of one feature look like: cut k is after the k-th bin of the order.
struct Cuts {
  alignas(64) std::int64_t left_sum[256], right_sum[256];
  alignas(64) std::uint32_t left_weight[256];
  alignas(64) double score[256];
};

// Scores of the cuts 0 ... n - 1 from the class weights on their left, accumulated in the given order of bins.
template <class Word, int kShift>
SUREWOOD_INLINE void sweep_pairs(const Word* cells, const std::uint8_t* order, std::uint32_t n, Word* running,
                                 std::uint32_t total, std::uint32_t total_one, Cuts& cuts) {
  Word sum = 0;
  for (std::uint32_t k = 0; k < n; ++k) running[k] = sum += cells[order[k]];
  constexpr Word kMask = (Word(1) << kShift) - 1;
  for (std::uint32_t k = 0; k < n; ++k) {
    // Weights are below 2^31: signed conversions to double are exact and quick on every instruction set.
    auto weight = static_cast<std::int32_t>(running[k] & kMask), one = static_cast<std::int32_t>(running[k] >> kShift);
    double left = weight, left_one = one, left_zero = weight - one;
    auto right_weight = static_cast<std::int32_t>(total) - weight;
    auto right_one_count = static_cast<std::int32_t>(total_one) - one;
    double right = right_weight, right_one = right_one_count, right_zero = right_weight - right_one_count;
    cuts.left_weight[k] = static_cast<std::uint32_t>(weight);
    cuts.score[k] = (left_one * left_one + left_zero * left_zero) / left +
                    (right_one * right_one + right_zero * right_zero) / right;
  }
}

template <class Number, class Sum, std::uint32_t kLabels>
SUREWOOD_INLINE void sweep_rows(const Number* cells, const std::uint8_t* order, std::uint32_t n, Number* running,
                                std::uint32_t total, const Number* node_counts, std::int64_t node_sum, Cuts& cuts) {
  alignas(64) Number left[kLabels] = {0};
  for (std::uint32_t k = 0; k < n; ++k) {
    const Number* row = cells + std::size_t(order[k]) * kLabels;
    Number* keep = running + std::size_t(k) * kLabels;
    Sum squares = 0, products = 0;
    std::int32_t weight = 0;
    for (std::uint32_t c = 0; c < kLabels; ++c) {
      left[c] = static_cast<Number>(left[c] + row[c]);
      keep[c] = left[c];
      squares += static_cast<Sum>(left[c]) * left[c];
      products += static_cast<Sum>(left[c]) * node_counts[c];
      weight += static_cast<std::int32_t>(left[c]);
    }
    // sum of (T - L)^2 = (TT - TL) - (TL - LL), each part within range
    cuts.left_sum[k] = static_cast<std::int64_t>(squares);
    cuts.right_sum[k] = (node_sum - static_cast<std::int64_t>(products)) -
                        (static_cast<std::int64_t>(products) - static_cast<std::int64_t>(squares));
    cuts.left_weight[k] = static_cast<std::uint32_t>(weight);
  }
  for (std::uint32_t k = 0; k < n; ++k) {
    auto weight = static_cast<std::int32_t>(cuts.left_weight[k]);
    double left_weight = weight, right_weight = static_cast<std::int32_t>(total) - weight;
    cuts.score[k] = static_cast<double>(cuts.left_sum[k]) / left_weight +
                    static_cast<double>(cuts.right_sum[k]) / right_weight;
  }
}

// ---- one feature -------------------------------------------------------------------------------------

template <class Cells>
struct Kernel;

template <class Word, int kShift>
struct Kernel<PairCells<Word, kShift>> {
  using Cells = PairCells<Word, kShift>;
  template <class Sample>
  Kernel(const NodeView<Sample>& node, HistogramScratch& scratch)
      : total(node.weight), total_one(node.counts[1]), running(static_cast<Word*>(scratch.running())) {}

  SUREWOOD_INLINE void sweep(const Word* cells, const std::uint8_t* order, std::uint32_t n, Cuts& cuts) const {
    sweep_pairs<Word, kShift>(cells, order, n, running, total, total_one, cuts);
  }
  SUREWOOD_INLINE void left_counts(std::uint32_t cut, std::uint32_t* out, std::uint32_t) const {
    out[1] = static_cast<std::uint32_t>(running[cut] >> kShift);
    out[0] = static_cast<std::uint32_t>(running[cut] & ((Word(1) << kShift) - 1)) - out[1];
  }
  SUREWOOD_INLINE static void clear(Word* cells, std::uint8_t bin) { cells[bin] = 0; }
  SUREWOOD_INLINE static std::uint64_t weight(const Word* cells, std::uint8_t bin) {
    return cells[bin] & ((Word(1) << kShift) - 1);
  }
  SUREWOOD_INLINE static std::uint64_t of_label(const Word* cells, std::uint8_t bin, std::uint32_t label) {
    std::uint64_t one = cells[bin] >> kShift;
    return label == 1 ? one : weight(cells, bin) - one;
  }

  std::uint32_t total, total_one;
  Word* running;
};

template <class Number, class Sum, std::uint32_t kLabels>
struct Kernel<RowCells<Number, Sum, kLabels>> {
  using Cells = RowCells<Number, Sum, kLabels>;
  template <class Sample>
  Kernel(const NodeView<Sample>& node, HistogramScratch& scratch)
      : total(node.weight), running(static_cast<Number*>(scratch.running())) {
    for (std::uint32_t c = 0; c < kLabels; ++c) {
      counts[c] = static_cast<Number>(c < node.n_labels ? node.counts[c] : 0);
      sum += static_cast<std::int64_t>(counts[c]) * static_cast<std::int64_t>(counts[c]);
    }
  }

  SUREWOOD_INLINE void sweep(const Number* cells, const std::uint8_t* order, std::uint32_t n, Cuts& cuts) const {
    sweep_rows<Number, Sum, kLabels>(cells, order, n, running, total, counts, sum, cuts);
  }
  SUREWOOD_INLINE void left_counts(std::uint32_t cut, std::uint32_t* out, std::uint32_t n_labels) const {
    for (std::uint32_t c = 0; c < n_labels; ++c) out[c] = static_cast<std::uint32_t>(running[cut * kLabels + c]);
  }
  SUREWOOD_INLINE static void clear(Number* cells, std::uint8_t bin) {
    std::memset(cells + std::size_t(bin) * kLabels, 0, kLabels * sizeof(Number));
  }
  SUREWOOD_INLINE static std::uint64_t weight(const Number* cells, std::uint8_t bin) {
    std::uint64_t total = 0;
    for (std::uint32_t c = 0; c < kLabels; ++c) total += static_cast<std::uint64_t>(cells[bin * kLabels + c]);
    return total;
  }
  SUREWOOD_INLINE static std::uint64_t of_label(const Number* cells, std::uint8_t bin, std::uint32_t label) {
    return static_cast<std::uint64_t>(cells[bin * kLabels + label]);
  }

  std::uint32_t total;
  Number* running;
  alignas(64) Number counts[kLabels];
  std::int64_t sum = 0;
};

// Categories by the share of the node's majority class, ties by code; as in split_scan.cpp.
template <class K, class Cell>
SUREWOOD_INLINE void sort_categories(const Cell* cells, std::uint8_t* order, std::uint32_t n, std::uint32_t majority) {
  std::uint64_t total[256], of_majority[256];
  for (std::uint32_t k = 0; k < n; ++k) {
    total[order[k]] = K::weight(cells, order[k]);
    of_majority[order[k]] = K::of_label(cells, order[k], majority);
  }
  std::sort(order, order + n, [&](std::uint8_t a, std::uint8_t b) {
    std::uint64_t left = of_majority[a] * total[b], right = of_majority[b] * total[a];
    return left != right ? left < right : a < b;
  });
}

// Cuts that leave too little on a side are out.
template <class Sample>
inline void drop_forbidden(const NodeView<Sample>& node, const std::uint32_t* rows, const std::uint8_t* order,
                           std::uint32_t n, Cuts& cuts) {
  std::uint32_t left_rows = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    left_rows += rows[order[k]];
    if (!node.allows(left_rows, cuts.left_weight[k])) cuts.score[k] = -std::numeric_limits<double>::infinity();
  }
}

// The first cut with the largest score among first ... n - 1.
SUREWOOD_INLINE std::uint32_t best_cut(const Cuts& cuts, std::uint32_t first, std::uint32_t n) {
  std::uint32_t best = first;
  for (std::uint32_t k = first + 1; k < n; ++k) best = cuts.score[k] > cuts.score[best] ? k : best;
  return best;
}

template <class K, class Sample>
SUREWOOD_INLINE bool best_of_feature(const K& kernel, const NodeView<Sample>& node, const BatchFeature& feature,
                                     int slot, bool limited, std::uint8_t* order, std::uint32_t n_bins,
                                     HistogramScratch& scratch, SplitScratch& shared, Split& best, Cuts& cuts) {
  auto* cells = static_cast<typename K::Cells::Cell*>(scratch.cells(slot));
  if (n_bins < 2) {
    K::clear(cells, order[0]);
    return false;
  }
  const bool category = feature.info->is_category;
  const bool missing = order[n_bins - 1] == kMissingCode;
  if (category) sort_categories<K>(cells, order, n_bins, node.majority);
  bool improved = false;
  auto consider = [&](std::uint32_t first, bool missing_left) {
    kernel.sweep(cells, order, n_bins - 1, cuts);
    if (limited) drop_forbidden(node, scratch.rows(slot), order, n_bins - 1, cuts);
    std::uint32_t cut = best_cut(cuts, first, n_bins - 1);
    if (!(cuts.score[cut] > best.score)) return;
    improved = true;
    best.score = cuts.score[cut];
    best.feature = feature.feature;
    best.left_weight = cuts.left_weight[cut];
    best.last_left = order[cut];
    best.first_right = order[cut + 1];
    best.category = category;
    best.missing_left = missing_left;
    kernel.left_counts(cut, shared.best_left.data(), node.n_labels);
    if (category) {
      best.left_set = CategorySet{};
      for (std::uint32_t k = 0; k <= cut; ++k) best.left_set.add(order[k]);
    }
  };
  consider(0, false);
  if (missing && !category && n_bins > 2) {  // missing first: the same cuts with missing on the left
    std::memmove(order + 1, order, n_bins - 1);
    order[0] = kMissingCode;
    consider(1, true);
  }
  if (improved) {
    best.missing_seen = missing;
    if (category) {
      best.seen_set = CategorySet{};
      for (std::uint32_t k = 0; k < n_bins; ++k) best.seen_set.add(order[k]);
    }
  }
  for (std::uint32_t k = 0; k < n_bins; ++k) K::clear(cells, order[k]);
  return true;
}

// ---- a batch -----------------------------------------------------------------------------------------

template <class Cells, class Sample>
SUREWOOD_INLINE void run_batch(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                               HistogramScratch& scratch, SplitScratch& shared, Split& best, bool* varies) {
  Kernel<Cells> kernel(node, scratch);
  const bool limited = node.min_rows > 1 || node.min_weight > 0;
  bool small = true;
  for (int f = 0; f < n_features; ++f) small &= features[f].info->few_bins;
  std::uint64_t word[kBatch];
  if (limited)
    fill_some<Cells, Seen::kRows>(node, features, n_features, scratch, word);
  else if (small)
    fill_some<Cells, Seen::kWord>(node, features, n_features, scratch, word);
  else
    fill_some<Cells, Seen::kByte>(node, features, n_features, scratch, word);
  Cuts cuts;
  std::uint8_t order[257];
  for (int f = 0; f < n_features; ++f) {
    std::uint32_t n_bins = limited ? take_rows(scratch.rows(f), order)
                           : small ? append_bits(word[f], 0, order, 0)
                                   : take_seen(scratch.seen(f), order);
    varies[f] = best_of_feature(kernel, node, features[f], f, limited, order, n_bins, scratch, shared, best, cuts);
    if (limited) std::memset(scratch.rows(f), 0, 1024);
  }
}

template <class Sample>
SUREWOOD_TARGET void batch(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                           HistogramScratch& scratch, SplitScratch& shared, Split& best, bool* varies) {
#define SUREWOOD_RUN(...) return run_batch<__VA_ARGS__>(node, features, n_features, scratch, shared, best, varies)
  using Half = std::int16_t;
  using Full = std::uint32_t;
  const std::uint32_t tier = label_tier(node.n_labels);
  if (tier == 2) {
    if (node.weight < (1u << 16)) SUREWOOD_RUN(PairCells<std::uint32_t, 16>);
    SUREWOOD_RUN(PairCells<std::uint64_t, 32>);
  }
  if (node.weight < (1u << 15)) {
    if (tier == 8) SUREWOOD_RUN(RowCells<Half, std::int32_t, 8>);
    if (tier == 16) SUREWOOD_RUN(RowCells<Half, std::int32_t, 16>);
    if (tier == 32) SUREWOOD_RUN(RowCells<Half, std::int32_t, 32>);
    SUREWOOD_RUN(RowCells<Half, std::int32_t, 64>);
  }
  if (tier == 8) SUREWOOD_RUN(RowCells<Full, std::uint64_t, 8>);
  if (tier == 16) SUREWOOD_RUN(RowCells<Full, std::uint64_t, 16>);
  if (tier == 32) SUREWOOD_RUN(RowCells<Full, std::uint64_t, 32>);
  SUREWOOD_RUN(RowCells<Full, std::uint64_t, 64>);
#undef SUREWOOD_RUN
}
