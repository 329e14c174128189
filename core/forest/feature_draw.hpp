// Features of a node: drawn without replacement, the same ones for the same stream whatever was drawn before; and those
// known to be constant in the open node, because they were in one of its ancestors.
#pragma once

#include <cstddef>
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

// What a node finds out holds for its whole subtree, so a log that is cut back when the growth returns to a
// waiting node is enough. Skipping such features changes no tree, only the time.
class ConstantFeatures {
 public:
  explicit ConstantFeatures(std::uint32_t n_features) : known_(n_features, 0) {}
  bool knows(std::uint32_t feature) const { return known_[feature] != 0; }
  void add(std::uint32_t feature) {
    known_[feature] = 1;
    log_.push_back(feature);
  }
  std::size_t mark() const { return log_.size(); }
  void back_to(std::size_t mark) {
    while (log_.size() > mark) {
      known_[log_.back()] = 0;
      log_.pop_back();
    }
  }

 private:
  std::vector<std::uint8_t> known_;
  std::vector<std::uint32_t> log_;
};

}  // namespace surewood
