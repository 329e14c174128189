// Kernel rows of one two-class problem, built when the solver first asks for them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel.hpp"

namespace surewood {

// Holds as many rows as fit in `cache_bytes` (at least two), and throws out the one used longest ago.
// Inner products are kept beside them while the points stay the same, up to kInnerPoints points: the
// next degree then reads them in order instead of gathering again.
class KernelRows {
 public:
  static constexpr int kInnerPoints = 1024;

  KernelRows(const InnerSource& source, std::size_t cache_bytes) : source_(source), cache_bytes_(cache_bytes) {}

  void set_points(const std::int32_t* rows, int n, bool keep_inner);
  void set_kernel(const Kernel& kernel);  // forgets the rows of the kernel before
  const float* build(int i);              // the row was not ready
  int size() const { return n_; }
  const float* diag() const { return diag_.data(); }
  std::size_t bytes() const;

  std::vector<const float*> ready;   // nullptr: not built
  std::vector<std::int64_t> stamp;   // time of the last use, kept by the solver
  std::int64_t clock = 0;            // goes on from solve to solve

 private:
  const float* inner_row(int i);
  int free_slot();

  InnerSource source_;
  std::size_t cache_bytes_;
  Kernel kernel_;
  int n_ = 0, padded_ = 0, capacity_ = 0, used_ = 0;
  bool keep_inner_ = false;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> slot_owner_;
  std::vector<float> diag_, norms_, values_, inner_, scratch_;
  std::vector<char> inner_ready_;
  PackedRows packed_;
};

}  // namespace surewood
