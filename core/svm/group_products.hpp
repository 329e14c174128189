// Inner products among the points of one group (a leaf), once for all its pairs of classes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/aligned.hpp"
#include "svm/kernel.hpp"

namespace surewood {

constexpr int kBeyond = 8;  // numbers behind a matrix that may be read or written, though nobody wants them

// Numbers of a matrix among n points, if there are no more than `most`.
inline std::size_t square_room(int n, int most) {
  return n <= most ? static_cast<std::size_t>(n) * padded_to_lanes(n) + kBeyond : 0;
}

// Rows are taken out of the stored matrix, or formed anew where that is quicker.
class GroupProducts {
 public:
  static constexpr int kMostPoints = 1024;  // 4 MB

  explicit GroupProducts(const InnerSource& source);

  void expect(int m) { expected_ = m; }  // the most points there will be
  void set_points(const std::int32_t* rows, int m);
  const float* row(int i);  // m products, ready when first asked for
  void make_all();

 private:
  void form(int i, int count);

  InnerSource source_;
  bool formed_;
  const std::int32_t* rows_ = nullptr;
  int m_ = 0, expected_ = 0;
  PackedRows packed_;
  std::vector<char> ready_;
  UnsetVector<float> values_;
};

}  // namespace surewood
