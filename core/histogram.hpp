// The best Gini split of up to four features at once, from class histograms over the occupied bins.
//
// One kernel for all node sizes. Codes of four features are gathered in one pass over the samples and never
// stored; the scan visits only bins that occurred and zeroes what it read, so nothing is cleared in full.
// Tiers by number of labels and total weight (all exact integers, all the same answer as split_scan.hpp):
//   2 labels, weight < 2^16:   one 32-bit cell a bin: weight | weight of label 1 << 16
//   2 labels:                  one 64-bit cell a bin
//   <= 64 labels, < 2^15:      a row of 8, 16, 32 or 64 int16 a bin
//   <= 64 labels:              a row of uint32 a bin
// The code is compiled for baseline, AVX2 and AVX-512 and chosen at run time; integer sums and IEEE divisions
// make the result independent of that choice.
#pragma once

#include <cstdint>
#include <memory>

#include "split.hpp"

namespace surewood {

constexpr int kBatch = 4;                     // features gathered together
constexpr std::uint32_t kHistogramLabels = 64;  // most labels of a node for these kernels

struct BatchFeature {
  ColumnView column;
  const ColumnInfo* info;
  std::uint32_t feature;
};

// Zero between calls.
class HistogramScratch {
 public:
  static constexpr std::size_t kCellBytes = 256 * kHistogramLabels * 4;  // of one feature
  HistogramScratch();
  void* cells(int feature) { return base_ + feature * kCellBytes; }
  std::uint8_t* seen(int feature) { return base_ + kBatch * kCellBytes + feature * 256; }
  std::uint32_t* rows(int feature) {
    return reinterpret_cast<std::uint32_t*>(base_ + kBatch * (kCellBytes + 256) + feature * 1024);
  }
  void* running() { return base_ + kBatch * (kCellBytes + 256 + 1024); }  // kCellBytes: weights left of each cut

 private:
  std::unique_ptr<std::uint8_t[]> memory_;
  std::uint8_t* base_;
};

// Smallest length of the label vectors that a node with this many labels is scanned with.
inline std::uint32_t label_tier(std::uint32_t n_labels) {
  if (n_labels <= 2) return 2;
  std::uint32_t tier = 8;
  while (tier < n_labels) tier *= 2;
  return tier;
}

// Looks for better splits in the first `n_features` of `features`, in order, as scan_feature does; `varies[k]`
// tells which of them are not constant in the node.
template <class Sample>
void histogram_batch(const NodeView<Sample>& node, const BatchFeature* features, int n_features,
                     HistogramScratch& histograms, SplitScratch& scratch, Split& best, bool* varies);

}  // namespace surewood
