// The numbers of a column, spread over thousands of buckets in ascending order: what is needed of the sorted column is
// found bucket by bucket, and the codes of the same numbers are looked up by bucket.
//
// The place of a number grows linearly within each of eight segments, which end at quantiles of a sample; its bucket is
// the whole part. Sums and products of larger numbers are never rounded to less: a larger number is in the same bucket
// or a later one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/learn_bins.hpp"

namespace surewood {

constexpr std::size_t kSegments = 8;

template <class Real>
struct Segments {
  Real start[kSegments], length[kSegments], scale[kSegments];
};

template <class Real>
class PlacedNumbers {
 public:
  // Reads a column, whose numbers are finite or NaN. False where sorting it is the better way: it is short, or a
  // bucket has too many different numbers.
  bool place(const Real* values, std::size_t n);

  // Adds the bins of the column to `out` and returns their number; 0 if a value is heavy enough to stand alone (see
  // learn_bins.hpp), as one is where there are fewer distinct values than bins.
  std::size_t add_bins(std::size_t max_bins, NumberBins& out);

  // Distinct values and how many numbers there are up to each.
  void collect(Distribution& found);

  // The upper edges of the bins, where they were not found by add_bins.
  void cut(const double* edges, std::size_t n_bins);

  // After add_bins or cut: the codes of the column. False where too many bins end in one bucket, and nothing is
  // written.
  bool codes(std::uint8_t* out);

 private:
  struct Queries {
    std::uint32_t position[256], stop[256];  // of a number in the sorted column; of those equal to it
    std::uint16_t bucket[256];
    Real value[256];
  };

  void find_segments(Real low, Real high);
  bool spread();
  bool has_heavy(std::size_t max_bins);
  void answer(Queries& queries, std::size_t n);
  void sort_bucket(std::size_t bucket);
  bool is_constant(std::size_t bucket) const;
  bool too_full() const;
  std::size_t begin_of(std::size_t bucket) const { return end_[bucket]; }
  std::size_t end_of(std::size_t bucket) const { return end_[bucket + 1]; }

  const Real* values_ = nullptr;
  std::size_t n_ = 0, n_buckets_ = 0, known_ = 0, fullest_ = 0, n_bins_ = 0;
  Segments<Real> segments_;
  std::vector<std::uint16_t> places_;
  std::vector<std::uint32_t> end_;  // of each bucket in items_; NaN has the last one
  std::vector<Real> items_;
  std::vector<std::uint8_t> code_;  // of the smallest numbers of each bucket
  Queries cuts_, others_;           // the largest number of each bin; what else is asked for
};

}  // namespace surewood
