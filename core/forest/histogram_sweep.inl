// Body of the histogram scan; included by forest/histogram_sweep.cpp once per instruction set, inside a namespace of
// its own (common/cpu.hpp).

// ---- occupied bins -----------------------------------------------------------------------------------

SUREWOOD_INLINE std::uint32_t append_bits(std::uint64_t bits, std::uint32_t base, std::uint8_t* order,
                                          std::uint32_t count) {
  for (; bits; bits &= bits - 1) order[count++] = static_cast<std::uint8_t>(base + lowest_bit(bits));
  return count;
}

// Bins below `end` whose byte is set, ascending; clears the bytes.
SUREWOOD_INLINE std::uint32_t take_seen(std::uint8_t* seen, std::uint32_t end, std::uint8_t* order) {
  std::uint32_t count = 0;
  for (std::uint32_t base = 0; base < end; base += 64) {
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
  static constexpr std::uint32_t kMost = 256 + kCutsTogether;
  alignas(64) std::int64_t left_sum[kMost], right_sum[kMost];
  alignas(64) std::int32_t left_half[kMost], right_half[kMost];  // the same where they fit
  alignas(64) std::uint32_t left_weight[kMost];
  alignas(64) double score[kMost];
};

// Scores of the cuts 0 ... n - 1 from the class weights on their left, accumulated in the given order of bins.
template <class Word, int kShift>
SUREWOOD_INLINE void sweep_pairs(const Word* cells, const std::uint8_t* order, std::uint32_t n, Word* running,
                                 std::uint32_t total, std::uint32_t total_one, Cuts& cuts) {
  Word sum = 0;
  for (std::uint32_t k = 0; k < n; ++k) running[k] = sum += cells[order[k]];
  constexpr Word kMask = (Word(1) << kShift) - 1;
  for (std::uint32_t group = 0; group < n; group += kCutsTogether)  // whole registers, see sweep_half_rows
    for (std::uint32_t k = group; k < group + kCutsTogether; ++k) {
      // Weights are below 2^31: signed conversions to double are exact and quick on every instruction set.
      const auto weight = static_cast<std::int32_t>(running[k] & kMask),
                 one = static_cast<std::int32_t>(running[k] >> kShift);
      const double left = weight, left_one = one, left_zero = weight - one;
      const auto right_weight = static_cast<std::int32_t>(total) - weight;
      const auto right_one_count = static_cast<std::int32_t>(total_one) - one;
      const double right = right_weight, right_one = right_one_count, right_zero = right_weight - right_one_count;
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
    cuts.score[k] =
        static_cast<double>(cuts.left_sum[k]) / left_weight + static_cast<double>(cuts.right_sum[k]) / right_weight;
  }
}

// The same for int16 rows of a total below 2^15: squares and products then stay below 2^30.
template <std::uint32_t kLabels>
SUREWOOD_INLINE void sweep_half_rows(const std::int16_t* cells, const std::uint8_t* order, std::uint32_t n,
                                     std::int16_t* running, std::uint32_t total, const std::int16_t* node_counts,
                                     std::int64_t node_sum, Cuts& cuts) {
#if defined(__SSE2__)
  constexpr std::uint32_t kParts = kLabels / 8;
  const __m128i ones = _mm_set1_epi16(1), whole = _mm_set1_epi32(static_cast<int>(node_sum));
  __m128i left[kParts], counts[kParts];
  for (std::uint32_t q = 0; q < kParts; ++q) {
    left[q] = _mm_setzero_si128();
    counts[q] = _mm_load_si128(reinterpret_cast<const __m128i*>(node_counts + 8 * q));
  }
  for (std::uint32_t k = 0; k < n; k += 4) {  // up to three cuts past the end, from the padding of `order`
    __m128i squares[4], products[4], weights[4];
    for (std::uint32_t j = 0; j < 4; ++j) {
      const auto* row = reinterpret_cast<const __m128i*>(cells + std::size_t(order[k + j]) * kLabels);
      auto* keep = reinterpret_cast<__m128i*>(running + std::size_t(k + j) * kLabels);
      squares[j] = products[j] = weights[j] = _mm_setzero_si128();
      for (std::uint32_t q = 0; q < kParts; ++q) {
        left[q] = _mm_add_epi16(left[q], _mm_load_si128(row + q));
        _mm_store_si128(keep + q, left[q]);
        squares[j] = _mm_add_epi32(squares[j], _mm_madd_epi16(left[q], left[q]));
        products[j] = _mm_add_epi32(products[j], _mm_madd_epi16(left[q], counts[q]));
        weights[j] = _mm_add_epi32(weights[j], _mm_madd_epi16(left[q], ones));
      }
    }
    const __m128i square = four_sums(squares), product = four_sums(products);
    // sum of (T - L)^2 = (TT - TL) - (TL - LL)
    const __m128i other = _mm_sub_epi32(_mm_sub_epi32(whole, product), _mm_sub_epi32(product, square));
    _mm_store_si128(reinterpret_cast<__m128i*>(cuts.left_half + k), square);
    _mm_store_si128(reinterpret_cast<__m128i*>(cuts.right_half + k), other);
    _mm_store_si128(reinterpret_cast<__m128i*>(cuts.left_weight + k), four_sums(weights));
  }
#else
  std::int16_t left[kLabels] = {0};
  for (std::uint32_t k = 0; k < n; ++k) {
    std::int32_t squares = 0, products = 0, weight = 0;
    for (std::uint32_t c = 0; c < kLabels; ++c) {
      left[c] = static_cast<std::int16_t>(left[c] + cells[std::size_t(order[k]) * kLabels + c]);
      running[std::size_t(k) * kLabels + c] = left[c];
      squares += std::int32_t(left[c]) * left[c];
      products += std::int32_t(left[c]) * node_counts[c];
      weight += left[c];
    }
    cuts.left_half[k] = squares;
    cuts.right_half[k] = (static_cast<std::int32_t>(node_sum) - products) - (products - squares);
    cuts.left_weight[k] = static_cast<std::uint32_t>(weight);
  }
#endif
  // Whole registers, whatever the number of cuts: what lies past the end is never read.
  for (std::uint32_t k = 0; k < n; k += kCutsTogether)
    for (std::uint32_t j = k; j < k + kCutsTogether; ++j) {
      const auto weight = static_cast<std::int32_t>(cuts.left_weight[j]);
      const double left_weight = weight, right_weight = static_cast<std::int32_t>(total) - weight;
      cuts.score[j] = cuts.left_half[j] / left_weight + cuts.right_half[j] / right_weight;
    }
}

// ---- one feature -------------------------------------------------------------------------------------

template <class Word, int kShift>
struct PairKernel {
  using Cell = Word;
  SUREWOOD_INLINE PairKernel(const NodeShape& node, HistogramScratch& scratch)
      : total(node.weight), total_one(node.counts[1]), running(scratch.running<Word>()) {}

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
struct RowKernel {
  using Cell = Number;
  SUREWOOD_INLINE RowKernel(const NodeShape& node, HistogramScratch& scratch)
      : total(node.weight), running(scratch.running<Number>()) {
    for (std::uint32_t c = 0; c < kLabels; ++c) {
      counts[c] = static_cast<Number>(c < node.n_labels ? node.counts[c] : 0);
      sum += static_cast<std::int64_t>(counts[c]) * static_cast<std::int64_t>(counts[c]);
    }
  }

  SUREWOOD_INLINE void sweep(const Number* cells, const std::uint8_t* order, std::uint32_t n, Cuts& cuts) const {
    if constexpr (sizeof(Number) == 2)
      sweep_half_rows<kLabels>(cells, order, n, running, total, counts, sum, cuts);
    else
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

// Categories by the smoothed frequency of the node's majority class, ties by code; as in forest/split_scan.cpp.
template <class K, class Cell>
SUREWOOD_INLINE void sort_categories(const Cell* cells, std::uint8_t* order, std::uint32_t n, const NodeShape& node) {
  double share[256];
  for (std::uint32_t k = 0; k < n; ++k)
    share[order[k]] = node.category.share(K::of_label(cells, order[k], node.majority), K::weight(cells, order[k]));
  std::sort(order, order + n, [&](std::uint8_t a, std::uint8_t b) {
    return share[a] != share[b] ? share[a] < share[b] : a < b;
  });
}

// Cuts that leave too little on a side are out.
inline void drop_forbidden(const NodeShape& node, const std::uint32_t* rows, const std::uint8_t* order, std::uint32_t n,
                           Cuts& cuts) {
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

// Scans the histogram in `slot`, whose occupied bins are in `order`, and clears it.
template <class K>
SUREWOOD_INLINE void scan_slot(const K& kernel, const NodeShape& node, const BatchFeature& feature, int slot,
                               std::uint8_t* order, std::uint32_t n_bins, HistogramScratch& scratch,
                               SplitScratch& shared, Split& best, Cuts& cuts) {
  auto* cells = scratch.cells<typename K::Cell>(slot);
  const bool category = feature.info->is_category;
  const bool missing = order[n_bins - 1] == kMissingCode;
  if (category) sort_categories<K>(cells, order, n_bins, node);
  const double penalty = category ? node.category.penalty(n_bins) : 0.0;
  bool improved = false;
  auto consider = [&](std::uint32_t first, bool missing_left) {
    kernel.sweep(cells, order, n_bins - 1, cuts);
    if (node.limited()) drop_forbidden(node, scratch.rows(slot), order, n_bins - 1, cuts);
    std::uint32_t cut = best_cut(cuts, first, n_bins - 1);
    const double score = cuts.score[cut] - penalty;
    if (!(score > best.score)) return;
    improved = true;
    best.score = score;
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
}

// ---- a batch -----------------------------------------------------------------------------------------

template <class K>
SUREWOOD_INLINE std::uint32_t sweep_batch(const NodeShape& node, const BatchFeature* features, int n_features,
                                          Seen seen, HistogramScratch& scratch, const std::uint64_t* word,
                                          SplitScratch& shared, Split& best) {
  const K kernel(node, scratch);
  Cuts cuts;
  std::uint8_t order[256 + kCutsTogether];
  std::uint32_t varying = 0;
  for (int f = 0; f < n_features; ++f) {
    std::uint32_t n_bins = seen == Seen::kWord ? append_bits(word[f], 0, order, 0)
                           : seen == Seen::kByte
                               ? take_seen(scratch.seen(f), features[f].info->few_bins ? 64 : 256, order)
                               : take_rows(scratch.rows(f), order);
    std::memset(order + n_bins, 0, kCutsTogether);
    // A split into two pure sides cannot be beaten: only clear what is left.
    if (n_bins > 1 && best.score < static_cast<double>(node.weight))
      scan_slot(kernel, node, features[f], f, order, n_bins, scratch, shared, best, cuts);
    varying |= static_cast<std::uint32_t>(n_bins > 1) << f;
    for (std::uint32_t k = 0; k < n_bins; ++k) K::clear(scratch.cells<typename K::Cell>(f), order[k]);
    if (seen == Seen::kRows) std::memset(scratch.rows(f), 0, 1024);
  }
  return varying;
}

std::uint32_t sweep(const NodeShape& node, const BatchFeature* features, int n_features, Seen seen,
                    HistogramScratch& scratch, const std::uint64_t* word, SplitScratch& shared, Split& best) {
#define SUREWOOD_RUN(...) return sweep_batch<__VA_ARGS__>(node, features, n_features, seen, scratch, word, shared, best)
  using Half = std::int16_t;
  using Full = std::uint32_t;
  const std::uint32_t tier = label_tier(node.n_labels);
  switch (cell_tier(node)) {
    case Tier::kPair32:
      SUREWOOD_RUN(PairKernel<std::uint32_t, 16>);
    case Tier::kPair64:
      SUREWOOD_RUN(PairKernel<std::uint64_t, 32>);
    case Tier::kRow16:
      if (tier == 8) SUREWOOD_RUN(RowKernel<Half, std::int32_t, 8>);
      if (tier == 16) SUREWOOD_RUN(RowKernel<Half, std::int32_t, 16>);
      if (tier == 32) SUREWOOD_RUN(RowKernel<Half, std::int32_t, 32>);
      SUREWOOD_RUN(RowKernel<Half, std::int32_t, 64>);
    default:
      if (tier == 8) SUREWOOD_RUN(RowKernel<Full, std::uint64_t, 8>);
      if (tier == 16) SUREWOOD_RUN(RowKernel<Full, std::uint64_t, 16>);
      if (tier == 32) SUREWOOD_RUN(RowKernel<Full, std::uint64_t, 32>);
      SUREWOOD_RUN(RowKernel<Full, std::uint64_t, 64>);
  }
#undef SUREWOOD_RUN
}
