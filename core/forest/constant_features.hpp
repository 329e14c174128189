// Features known to be constant in the open node, because they were in one of its ancestors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surewood {

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
