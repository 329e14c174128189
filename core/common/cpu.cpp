#include "common/cpu.hpp"

#include <atomic>

namespace surewood {

namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};

int best() {
#if defined(SUREWOOD_X86_SETS)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? 2 : avx2 ? 1 : 0;
#else
  return 0;
#endif
}

std::atomic<int>& chosen() {
  static std::atomic<int> set{best()};
  return set;
}

}  // namespace

InstructionSet instruction_set() { return static_cast<InstructionSet>(chosen().load(std::memory_order_relaxed)); }

const char* instruction_set_name() { return kNames[static_cast<int>(instruction_set())]; }

bool use_instruction_set(const std::string& name) {
  for (int set = 0; set <= best(); ++set)
    if (name == kNames[set]) {
      chosen().store(set);
      return true;
    }
  return false;
}

}  // namespace surewood
