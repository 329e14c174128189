// What this machine offers to the kernels; shipped code is baseline with run-time dispatch.
#pragma once

namespace surewood {

// "avx512", "avx2" or "baseline": the best instruction set of the machine that runs.
const char* instruction_set();

}  // namespace surewood
