#include "svm/targets.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/cpu.hpp"
#include "svm/kernel_rows.hpp"
#include "svm/vote_block.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors never cross a call: every helper is inlined
#endif

// Each set is the same source (svm/set.inl) under another target option and register width. svm/lanes.inl has to be
// inside the option as well: the compiler lowers wide vectors before it inlines.
#define SUREWOOD_TABLE(set)                                                        \
  const SvmRoutines table = {set,         SUREWOOD_LANES == 2 ? 32 : kSmallPoints, \
                             run_duals,   measure_dual,                            \
                             poly_row,    rbf_row,                                 \
                             gather_row,  product_four,                            \
                             product_one, weighted_sums,                           \
                             vote_block};

namespace surewood {
#define SUREWOOD_LANES 2
namespace baseline {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("baseline")
}  // namespace
}  // namespace baseline
#undef SUREWOOD_LANES

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SUREWOOD_X86_SETS 1
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#define SUREWOOD_LANES 4
namespace avx2 {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("avx2")
}  // namespace
}  // namespace avx2
#undef SUREWOOD_LANES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,bmi,bmi2,popcnt,prefer-vector-width=512")
#define SUREWOOD_LANES 8
namespace avx512 {
namespace {
#include "svm/set.inl"
SUREWOOD_TABLE("avx512")
}  // namespace
}  // namespace avx512
#undef SUREWOOD_LANES
#pragma GCC pop_options
#endif

namespace {

const SvmRoutines* find(const std::string& name) {
#if defined(SUREWOOD_X86_SETS)
  const bool bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (name == "avx512" && bits && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return &avx512::table;
  if (name == "avx2" && bits && __builtin_cpu_supports("avx2")) return &avx2::table;
#endif
  return name == "baseline" ? &baseline::table : nullptr;
}

const SvmRoutines* best() {
  const SvmRoutines* found = find(instruction_set());
  return found ? found : &baseline::table;
}

std::atomic<const SvmRoutines*> chosen{nullptr};

}  // namespace

const SvmRoutines& svm_routines() {
  const SvmRoutines* table = chosen.load(std::memory_order_acquire);
  if (!table) {
    table = best();
    chosen.store(table, std::memory_order_release);
  }
  return *table;
}

bool use_svm_routines(const std::string& name) {
  const SvmRoutines* table = find(name);
  if (table) chosen.store(table, std::memory_order_release);
  return table != nullptr;
}

}  // namespace surewood
