// Gathering codes and adding samples to histograms: scalar work, bound by loads and stores. Compiled for baseline and
// for machines with cheap shifts (BMI2, there with AVX2); integers, so the same counts everywhere.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "forest/histogram.hpp"

namespace surewood {

HistogramScratch::HistogramScratch() {
  const std::size_t bytes = (kBatch + 1) * kCellBytes + kBatch * (256 + 1024);
  memory_.reset(static_cast<std::uint8_t*>(std::calloc(bytes + 64, 1)));  // only pages in use are ever touched
  if (!memory_) throw std::bad_alloc();
  base_ = memory_.get() + (64 - reinterpret_cast<std::uintptr_t>(memory_.get()) % 64) % 64;
}

namespace {

namespace baseline {
#include "forest/histogram_fill.inl"
}  // namespace baseline

#if defined(SUREWOOD_X86_SETS)
#include "common/target_avx2.inl"
namespace avx2 {
#include "forest/histogram_fill.inl"
}  // namespace avx2
#include "common/target_end.inl"
#endif

}  // namespace

template <class Sample>
void fill_histograms(const NodeView<Sample>& node, const BatchFeature* features, int n_features, Seen seen,
                     HistogramScratch& histograms, std::uint64_t* word) {
#if defined(SUREWOOD_X86_SETS)
  if (instruction_set() != InstructionSet::kBaseline)
    return avx2::fill_any(node, features, n_features, seen, histograms, word);
#endif
  baseline::fill_any(node, features, n_features, seen, histograms, word);
}

template void fill_histograms<NarrowSample>(const NodeView<NarrowSample>&, const BatchFeature*, int, Seen,
                                            HistogramScratch&, std::uint64_t*);
template void fill_histograms<WideSample>(const NodeView<WideSample>&, const BatchFeature*, int, Seen,
                                          HistogramScratch&, std::uint64_t*);

}  // namespace surewood
