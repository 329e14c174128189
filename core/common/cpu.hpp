// One scheme of CPU dispatch for all kernels: shipped code is baseline, vector kernels are compiled again for AVX2 and
// AVX-512 and chosen at run time.
//
// A kernel's source is included once per set, each time inside a namespace of its own and between the files
// common/target_*.inl, which speak to GCC and to Clang. Results are the same bit for bit with any set.
#pragma once

#include <string>

#if defined(__x86_64__) && defined(__GNUC__)  // Clang defines it, too
#define SUREWOOD_X86_SETS 1
#include <immintrin.h>
#endif

#if defined(__GNUC__)
#define SUREWOOD_INLINE inline __attribute__((always_inline))
#define SUREWOOD_INLINE_LAMBDA __attribute__((always_inline))
#else
#define SUREWOOD_INLINE inline
#define SUREWOOD_INLINE_LAMBDA
#endif

namespace surewood {

enum class InstructionSet : int { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

// The set in use: by default the best that this processor and this build have.
InstructionSet instruction_set();
const char* instruction_set_name();  // "baseline", "avx2" or "avx512"

// Selects a set by name for all kernels; false where there is no such set. For tests; not to be called while kernels
// run.
bool use_instruction_set(const std::string& name);

// Returns what a kernel that common/all_sets.inl compiled gives for the set in use.
#if defined(SUREWOOD_X86_SETS)
#define SUREWOOD_IN_SET(call)                                \
  do {                                                       \
    const InstructionSet set = instruction_set();            \
    if (set == InstructionSet::kAvx512) return avx512::call; \
    if (set == InstructionSet::kAvx2) return avx2::call;     \
    return baseline::call;                                   \
  } while (false)
#else
#define SUREWOOD_IN_SET(call) return baseline::call
#endif

}  // namespace surewood
