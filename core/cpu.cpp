#include "cpu.hpp"

namespace surewood {

const char* instruction_set() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  if (__builtin_cpu_supports("avx512bw")) return "avx512";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  return "baseline";
#else
  return "baseline";
#endif
}

}  // namespace surewood
