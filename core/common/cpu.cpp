#include "common/cpu.hpp"

#include <atomic>

namespace surewood {

const char* instruction_set() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return "avx512";
  if (avx2) return "avx2";
  return "baseline";
#else
  return "baseline";
#endif
}

namespace {

int level(const std::string& name) { return name == "avx512" ? 2 : name == "avx2" ? 1 : name == "baseline" ? 0 : -1; }

std::atomic<int>& chosen() {
  static std::atomic<int> set{level(instruction_set())};
  return set;
}

}  // namespace

InstructionSet tree_instruction_set() { return static_cast<InstructionSet>(chosen().load(std::memory_order_relaxed)); }

bool use_tree_instruction_set(const std::string& name) {
  const int wanted = level(name);
  if (wanted < 0 || wanted > level(instruction_set())) return false;
  chosen().store(wanted);
  return true;
}

}  // namespace surewood
