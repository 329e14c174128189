// What follows, up to common/target_end.inl, is compiled for processors with AVX2 and the bit instructions that come
// with it. Include guarded by SUREWOOD_X86_SETS, after all headers: a header's inline functions must stay baseline
// code, since the linker keeps one copy of them for the whole program.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
