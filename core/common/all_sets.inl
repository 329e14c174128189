// Compiles a kernel for baseline, AVX2 and AVX-512, each in a namespace of that name (common/cpu.hpp). SUREWOOD_KERNEL
// is the quoted name of its source.
namespace baseline {
#include SUREWOOD_KERNEL
}  // namespace baseline

#if defined(SUREWOOD_X86_SETS)
#include "common/target_avx2.inl"
namespace avx2 {
#include SUREWOOD_KERNEL
}  // namespace avx2
#include "common/target_end.inl"

#include "common/target_avx512.inl"
namespace avx512 {
#include SUREWOOD_KERNEL
}  // namespace avx512
#include "common/target_end.inl"
#endif
#undef SUREWOOD_KERNEL
