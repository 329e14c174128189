// The loops of boosting that run over rows or bins, compiled once per instruction set; the same bits with each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace surewood::boosting {

// A cell of a histogram, and what a row adds to it: `kWidth` integers, the gradients first, then the hessian and the
// number of rows in the last two places. Four of them for one output, else eight.
constexpr int kNarrow = 4, kWide = 8;
constexpr int kMostDirections = kWide - 2;  // gradients of more outputs are projected on random directions
constexpr int hessian_at(int width) { return width - 2; }
constexpr int count_at(int width) { return width - 1; }

// Copies the numbers of a row; lengths that compilers know are copied without a call.
inline void copy_cell(int width, const std::int32_t* from, std::int32_t* to) {
  if (width == kNarrow)
    std::memcpy(to, from, kNarrow * sizeof(std::int32_t));
  else
    std::memcpy(to, from, kWide * sizeof(std::int32_t));
}

// When and how much a split of a leaf gains, in the units of the rounded gradients.
struct GainRule {
  double l2;
  double min_hessian;
  std::int32_t min_rows;
  int n_directions;
  int monotone;  // of the column: -1, 0 or 1
};

// Probabilities of scores, which stand output after output.
void logistic(const double* score, std::size_t n, float* probability);
void softmax(const double* score, std::size_t n, std::size_t stride, std::uint32_t n_classes, double* scratch,
             float* probability);

// Gradients of n <= kBlock rows in each direction, a factor per class, and half the trace of their hessians. The
// probabilities of class k begin at probability + k * stride.
constexpr std::size_t kBlock = 256;
void project_gradients(const float* probability, std::size_t stride, const std::uint16_t* label, std::size_t n,
                       std::uint32_t n_classes, const double* direction, int n_directions, double (*gradient)[kBlock],
                       double* hessian);

// The integers nearest to value[i] * scale[i] + shift[i], at out[i * stride]; below 2^31 in size.
void round_to_integers(const double* value, const double* scale, const double* shift, std::size_t n, std::size_t stride,
                       std::int32_t* out);

// Gradients and hessians of one output as integers, the nearest to them times scale[i]; below 2^50 in size.
void newton_terms(const float* probability, const std::uint16_t* label, std::uint16_t one, const double* scale,
                  std::size_t n, std::int64_t* gradient, std::int64_t* hessian);

// Adds rows to the histograms of some columns.
void fill(int width, const std::uint32_t* rows, const std::int32_t* gradients, std::size_t n,
          const std::uint8_t* const* codes, std::int32_t* const* cells, std::size_t n_columns);

// Adds to gain[c] what the leaf gains where bins 0 ... c go left, for c < n_cuts; nothing where a side is too small or
// the order of a monotone column is violated. `missing`: the cell of missing values where they go left, else null.
void add_gains(int width, const std::int32_t* cells, int n_cuts, const std::int32_t* missing, const std::int32_t* total,
               const GainRule& rule, double* gain);

// Leaf numbers of symmetric trees, bit by bit: those of rows that go right at this split become odd.
void push_bit(const std::uint8_t* codes, std::size_t n, std::uint32_t word, std::uint8_t* leaf);

}  // namespace surewood::boosting
