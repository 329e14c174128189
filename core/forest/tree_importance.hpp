// Impurity decreases of one tree by feature, normalised and added to those of its forest when it ends.
#pragma once

#include <cstdint>
#include <vector>

namespace surewood {

class TreeImportance {
 public:
  explicit TreeImportance(std::uint32_t n_features) : decrease_(n_features, 0.0) {}
  void add(std::uint32_t feature, double decrease) { decrease_[feature] += decrease; }
  void end_tree(double* importance) {
    double total = 0.0;
    for (double value : decrease_) total += value;
    for (std::size_t j = 0; j < decrease_.size(); ++j) {
      if (total > 0.0) importance[j] += decrease_[j] / total;
      decrease_[j] = 0.0;
    }
  }

 private:
  std::vector<double> decrease_;
};

}  // namespace surewood
