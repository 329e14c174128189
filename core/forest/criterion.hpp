// Gini and entropy on integer class weights.
//
// Both keep one exact integer per side that is updated as weight moves from right to left, so a score
// is a function of the class weights alone: never of row order, lanes or instruction set.
//   Gini:    sum of squared class weights; score = L2 / WL + R2 / WR
//   Entropy: sum of w log2 w in fixed point; score = (L - WL log2 WL) + (R - WR log2 WR)
// A larger score is a better split; score minus the node's own score is the decrease of impurity times
// the node's weight. Weights of a node sum to less than 2^31.
#pragma once

#include <cstdint>

#include "forest/log_table.hpp"

namespace surewood {

struct Gini {
  static constexpr double kUnit = 1.0;
  static double pure(std::uint32_t total) { return static_cast<double>(total); }  // score of a node of one class
  static std::int64_t term(std::uint32_t w) { return static_cast<std::int64_t>(w) * w; }
  static double side(std::int64_t sum, std::uint32_t total) {
    return static_cast<double>(sum) / static_cast<double>(total);
  }
  static double split(std::int64_t left, std::uint32_t left_total, std::int64_t right, std::uint32_t right_total) {
    return side(left, left_total) + side(right, right_total);
  }
};

struct Entropy {
  static constexpr double kUnit = 1.0 / static_cast<double>(1 << kLogFraction);
  static double pure(std::uint32_t) { return 0.0; }
  static std::int64_t term(std::uint32_t w) { return weight_log2(w); }
  static double side(std::int64_t sum, std::uint32_t total) { return static_cast<double>(sum - weight_log2(total)); }
  static double split(std::int64_t left, std::uint32_t left_total, std::int64_t right, std::uint32_t right_total) {
    return static_cast<double>((left - weight_log2(left_total)) + (right - weight_log2(right_total)));
  }
};

}  // namespace surewood
