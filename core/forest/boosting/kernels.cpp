#include "forest/boosting/kernels.hpp"

#include <cstring>

#include "common/cpu.hpp"

namespace surewood::boosting {

namespace {

#define SUREWOOD_KERNEL "forest/boosting/kernels.inl"
#include "common/all_sets.inl"

}  // namespace

#if defined(SUREWOOD_X86_SETS)
#define SUREWOOD_DISPATCH(...)                                                                   \
  switch (instruction_set()) {                                                                   \
    case InstructionSet::kAvx512:                                                                \
      return avx512::__VA_ARGS__;                                                                \
    case InstructionSet::kAvx2:                                                                  \
      return avx2::__VA_ARGS__;                                                                  \
    default:                                                                                     \
      return baseline::__VA_ARGS__;                                                              \
  }
#else
#define SUREWOOD_DISPATCH(...) return baseline::__VA_ARGS__;
#endif

void logistic(const double* score, std::size_t n, float* probability) {
  SUREWOOD_DISPATCH(logistic(score, n, probability))
}

void softmax(const double* score, std::size_t n, std::size_t stride, std::uint32_t n_classes, double* scratch,
             float* probability) {
  SUREWOOD_DISPATCH(softmax(score, n, stride, n_classes, scratch, probability))
}

void project_gradients(const float* probability, std::size_t stride, const std::uint16_t* label, std::size_t n,
                       std::uint32_t n_classes, const double* direction, int n_directions, double (*gradient)[kBlock],
                       double* hessian) {
  SUREWOOD_DISPATCH(
      project_gradients(probability, stride, label, n, n_classes, direction, n_directions, gradient, hessian))
}

void round_to_integers(const double* value, const double* scale, const double* shift, std::size_t n, std::size_t stride,
                       std::int32_t* out) {
  SUREWOOD_DISPATCH(round_to_integers(value, scale, shift, n, stride, out))
}

void newton_terms(const float* probability, const std::uint16_t* label, std::uint16_t one, const double* scale,
                  std::size_t n, std::int64_t* gradient, std::int64_t* hessian) {
  SUREWOOD_DISPATCH(newton_terms(probability, label, one, scale, n, gradient, hessian))
}

void fill(int width, const std::uint32_t* rows, const std::int32_t* gradients, std::size_t n,
          const std::uint8_t* const* codes, std::int32_t* const* cells, std::size_t n_columns) {
  SUREWOOD_DISPATCH(fill(width, rows, gradients, n, codes, cells, n_columns))
}

void add_gains(int width, const std::int32_t* cells, int n_cuts, const std::int32_t* missing, const std::int32_t* total,
               const GainRule& rule, double* gain) {
  SUREWOOD_DISPATCH(add_gains(width, cells, n_cuts, missing, total, rule, gain))
}

void push_bit(const std::uint8_t* codes, std::size_t n, std::uint32_t word, std::uint8_t* leaf) {
  SUREWOOD_DISPATCH(push_bit(codes, n, word, leaf))
}

#undef SUREWOOD_DISPATCH

}  // namespace surewood::boosting
