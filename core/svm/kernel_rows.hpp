// Kernel rows of one two-class problem, built when the solver first asks for them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/aligned.hpp"
#include "svm/group_products.hpp"
#include "svm/kernel.hpp"

namespace surewood {

// Inner products among the points of one problem. Rows are kept while the points stay the same, up to
// kKeptPoints points: the next degree then reads them in order instead of gathering again.
class InnerRows {
 public:
  static constexpr int kKeptPoints = 1024;

  explicit InnerRows(const InnerSource& source) : source_(source), formed_(source.quicker_formed()) {}

  void expect(int n) { expected_ = n; }  // the most points there will be

  void set_points(const std::int32_t* rows, int n, bool keep);
  const float* row(int i);  // valid until the next call unless rows are kept
  const float* rows();      // all of them, one after another; only where rows are kept
  // Two runs of points of a group: first, ..., first + count - 1, and second, ..., second + others - 1.
  void set_pair(GroupProducts& group, const std::int32_t* rows, int first, int count, int second, int others,
                bool keep);
  int size() const { return n_; }
  int padded() const { return padded_; }
  const float* norms() const { return norms_.data(); }

 private:
  void set_size(int n, bool keep);

  InnerSource source_;
  bool formed_;
  int n_ = 0, padded_ = 0, expected_ = 0;
  bool keep_ = false, all_ready_ = false;
  GroupProducts* group_ = nullptr;  // where rows come from, unless from the source
  int first_ = 0, count_ = 0, second_ = 0;
  std::vector<std::int32_t> points_;
  AlignedVector<float> norms_;
  UnsetVector<float> values_;
  std::vector<char> ready_;
  PackedRows packed_;
};

// Kernel rows over these points. Holds as many as fit in `cache_bytes` (at least two), and throws out the
// one used longest ago.
class KernelRows {
 public:
  KernelRows(InnerRows& inner, std::size_t cache_bytes) : inner_(&inner), cache_bytes_(cache_bytes) {}

  // Floats for the rows of problems with up to n points, padded alike; where they are is for the caller to say.
  static std::size_t room_for(int n, std::size_t cache_bytes);
  void use_room(float* room) { values_ = room; }
  void reset(const Kernel& kernel);      // forgets all rows
  const float* build(int i);             // the row was not ready
  void build_all(const Kernel& kernel);  // all rows, one after another in memory: `whole`
  void list_all();                       // makes them known to `ready`
  const float* whole() const { return whole_ ? values_ : nullptr; }
  int size() const { return n_; }
  const float* diag() const { return diag_.data(); }

  std::vector<const float*> ready;  // nullptr: not built
  std::vector<std::int64_t> stamp;  // time of the last use, kept by the solver
  std::int64_t clock = 0;           // goes on from solve to solve

 private:
  int free_slot();
  void set_diag();

  InnerRows* inner_;
  std::size_t cache_bytes_;
  Kernel kernel_;
  int n_ = 0, padded_ = 0, capacity_ = 0, used_ = 0;
  bool whole_ = false;
  std::vector<std::int32_t> slot_owner_;
  AlignedVector<float> diag_;
  float* values_ = nullptr;
};

}  // namespace surewood
