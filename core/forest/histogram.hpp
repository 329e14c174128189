// The best Gini split of up to four features at once, from class histograms over the occupied bins.
//
// One kernel for all node sizes. Codes of four features are gathered in one pass over the samples and never
// stored (forest/histogram_fill.inl); the scan visits only bins that occurred and zeroes what it read, so nothing is
// cleared in full (forest/histogram_sweep.cpp). Tiers by number of labels and total weight, all exact integers, all
// with the same answer as forest/split_scan.hpp:
//   2 labels, weight < 2^16:   one 32-bit cell a bin: weight | weight of label 1 << 16
//   2 labels:                  one 64-bit cell a bin, the same with << 32
//   <= 64 labels, < 2^15:      a row of 8, 16, 32 or 64 int16 a bin
//   <= 64 labels:              a row of uint32 a bin
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "common/cpu.hpp"
#include "forest/split.hpp"

namespace surewood {

constexpr int kBatch = 4;                       // features gathered together
constexpr std::uint32_t kHistogramLabels = 64;  // most labels of a node for these kernels

struct BatchFeature {
  ColumnView column;
  const ColumnInfo* info;
  std::uint32_t feature;
};

enum class Tier { kPair32, kPair64, kRow16, kRow32 };

// Length of the label vectors that a node with this many labels is scanned with.
inline std::uint32_t label_tier(std::uint32_t n_labels) {
  if (n_labels <= 2) return 2;
  std::uint32_t tier = 8;
  while (tier < n_labels) tier *= 2;
  return tier;
}

inline Tier cell_tier(const NodeShape& node) {
  if (node.n_labels <= 2) return node.weight < (1u << 16) ? Tier::kPair32 : Tier::kPair64;
  return node.weight < (1u << 15) ? Tier::kRow16 : Tier::kRow32;
}

// How the occupied bins of a feature are noted: bits of a word, a byte a bin, or the number of rows a bin.
constexpr std::uint32_t kRowsWorthBytes = 24;
enum class Seen { kWord, kByte, kRows };

// All zero between batches.
class HistogramScratch {
 public:
  static constexpr std::size_t kCellBytes = 256 * kHistogramLabels * 4;  // of one feature
  HistogramScratch();
  template <class Cell>
  Cell* cells(int slot) {
    return reinterpret_cast<Cell*>(base_ + slot * kCellBytes);
  }
  template <class Cell>
  Cell* running() {  // class weights left of each cut of the feature being scanned
    return reinterpret_cast<Cell*>(base_ + kBatch * kCellBytes);
  }
  std::uint8_t* seen(int slot) { return base_ + (kBatch + 1) * kCellBytes + slot * 256; }
  std::uint32_t* rows(int slot) {
    return reinterpret_cast<std::uint32_t*>(base_ + (kBatch + 1) * kCellBytes + kBatch * 256 + slot * 1024);
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::uint8_t* base_;
};

// Adds the node's samples to the histograms of the batch; occupied bins go to `word`, seen or rows.
template <class Sample>
void fill_histograms(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
                     HistogramScratch& histograms, std::uint64_t* word);

// Scans and clears the histograms of the batch, feature by feature; bit k is set if feature k varies in the node.
std::uint32_t sweep_histograms(const NodeShape& node, const BatchFeature* features, int n_features, Seen seen,
                               HistogramScratch& histograms, const std::uint64_t* word, SplitScratch& scratch,
                               Split& best);

// Looks for splits better than `best` among the features, in order, as scan_feature does. Bit k of the
// result is set if feature k varies in the node.
template <class Sample>
std::uint32_t histogram_batch(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                              HistogramScratch& histograms, SplitScratch& scratch, Split& best) {
  bool few_bins = true;
  for (int f = 0; f < n_features; ++f) few_bins &= features[f].info->few_bins;
  // Bits of a word need registers, bytes a store: the latter pays in larger nodes.
  Seen seen = node.limited() ? Seen::kRows : few_bins && node.n < kRowsWorthBytes ? Seen::kWord : Seen::kByte;
  std::uint64_t word[kBatch];
  fill_histograms(node, features, n_features, seen, histograms, word);
  return sweep_histograms(node, features, n_features, seen, histograms, word, scratch, best);
}

}  // namespace surewood
