#include "svm/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/cpu.hpp"
#include "svm/kernel_rows.hpp"
#include "svm/vote_block.hpp"

// Each set is the same source (svm/set.inl) under another target (common/cpu.hpp) and register width. svm/lanes.inl has
// to be inside the target as well: the compiler lowers wide vectors before it inlines.
#define SUREWOOD_TABLE(set)                                                        \
  const SvmRoutines table = {set,         SUREWOOD_LANES == 2 ? 32 : kSmallPoints, \
                             run_duals,   measure_dual,                            \
                             poly_row,    rbf_row,                                 \
                             gather_row,  product_four,                            \
                             product_one, weighted_sums,                           \
                             vote_values, vote_pairs};

namespace surewood {

#define SUREWOOD_LANES 2
namespace baseline {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("baseline")
}  // namespace
}  // namespace baseline
#undef SUREWOOD_LANES

#if defined(SUREWOOD_X86_SETS)
#define SUREWOOD_LANES 4
#include "common/target_avx2.inl"
namespace avx2 {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("avx2")
}  // namespace
}  // namespace avx2
#include "common/target_end.inl"
#undef SUREWOOD_LANES

#define SUREWOOD_LANES 8
#include "common/target_avx512.inl"
namespace avx512 {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("avx512")
}  // namespace
}  // namespace avx512
#include "common/target_end.inl"
#undef SUREWOOD_LANES
#endif

const SvmRoutines& svm_routines() {
#if defined(SUREWOOD_X86_SETS)
  switch (instruction_set()) {
    case InstructionSet::kAvx512:
      return avx512::table;
    case InstructionSet::kAvx2:
      return avx2::table;
    case InstructionSet::kBaseline:
      break;
  }
#endif
  return baseline::table;
}

}  // namespace surewood
