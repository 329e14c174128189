// The vector code of the SVM engine, compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "svm/dual.hpp"

namespace surewood {

// (clamp(gamma s + coef0, +-limit))^degree: what poly_row needs, already divided by the kernel's scale. An infinite
// limit is none.
struct PolyValues {
  float gamma, coef0, limit;
  int degree;
};

struct BlockSvm;  // svm/vote_block.hpp
struct BlockVotes;

struct SvmRoutines {
  const char* name;
  int small_points;  // problems up to here are best given their whole kernel; at most kSmallPoints
  void (*run_duals)(DualQueue& queue, int together);
  void (*measure_dual)(const DualState&, DualOutcome&);
  void (*poly_row)(const float* inner, int padded, const PolyValues&, float* out);
  void (*rbf_row)(const float* inner, const float* norms, float row_norm, int padded, float gamma, float* out);
  void (*gather_row)(const float* row, const std::int32_t* at, int n, float* out);
  void (*product_four)(const double* const* x, const double* panels, int d, int n, float* const* out);
  void (*product_one)(const double* const* x, const double* panels, int d, int n, float* const* out);
  void (*weighted_sums)(const float* values, const double* coef, int n, int width, double* sums);
  void (*vote_values)(const BlockSvm&, const float* x, int count, BlockVotes&);
  void (*vote_pairs)(const BlockSvm&, const float* doubt, int count, BlockVotes&);
};

// The routines of the instruction set in use (common/cpu.hpp). Results are the same bit for bit with any set
// (vote_pairs: after its doubtful rows were evaluated again).
const SvmRoutines& svm_routines();

}  // namespace surewood
