// What this machine offers to the kernels; shipped code is baseline with run-time dispatch.
#pragma once

#include <string>

namespace surewood {

// "avx512", "avx2" or "baseline": the best instruction set of the machine that runs.
const char* instruction_set();

enum class InstructionSet : int { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

// What the forest engine uses: the best, unless another set was asked for.
InstructionSet tree_instruction_set();

// Selects "baseline", "avx2" or "avx512" for the forest engine; false when this machine has no such set. For
// tests: trees are the same bit for bit. Not to be called while trees grow.
bool use_tree_instruction_set(const std::string& name);

}  // namespace surewood
