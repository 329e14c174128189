// The instruction set in use: the best by default, another one by name, nothing for an unknown name.
#include <cassert>
#include <cstring>

#include "common/cpu.hpp"

using namespace surewood;

int main() {
  const char* best = instruction_set_name();
  const InstructionSet by_default = instruction_set();
  assert(!use_instruction_set("avx1024"));
  assert(instruction_set() == by_default);
  assert(use_instruction_set("baseline"));
  assert(instruction_set() == InstructionSet::kBaseline && !std::strcmp(instruction_set_name(), "baseline"));
  assert(use_instruction_set(best));
  assert(instruction_set() == by_default && instruction_set_name() == best);
  assert(std::strcmp(best, "baseline") != 0 || by_default == InstructionSet::kBaseline);
}
