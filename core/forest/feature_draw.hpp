// Features drawn without replacement, the same ones for the same stream whatever was drawn before.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/rng.hpp"

namespace surewood {

// Starts of Fisher-Yates shuffles of one permutation, put back after every node: a node's draws depend on its own
// stream alone, at the price of undoing a few swaps.
class FeatureDraw {
 public:
  explicit FeatureDraw(std::uint32_t n_features) : permutation_(n_features), swapped_(n_features) {
    for (std::uint32_t j = 0; j < n_features; ++j) permutation_[j] = j;
  }
  bool exhausted() const { return drawn_ == permutation_.size(); }
  std::uint32_t next(Stream& stream) {
    std::uint32_t other = drawn_ + stream.below(static_cast<std::uint32_t>(permutation_.size()) - drawn_);
    std::swap(permutation_[drawn_], permutation_[other]);
    swapped_[drawn_] = other;
    return permutation_[drawn_++];
  }
  void restore() {
    while (drawn_ > 0) {
      --drawn_;
      std::swap(permutation_[drawn_], permutation_[swapped_[drawn_]]);
    }
  }

 private:
  std::vector<std::uint32_t> permutation_, swapped_;
  std::uint32_t drawn_ = 0;
};

}  // namespace surewood
