// The end of code begun by common/target_avx2.inl or common/target_avx512.inl.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
