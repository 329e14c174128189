#include "machine.hpp"

namespace surewood {

const double* MachineVotes::decisions(const MachineView& machine, const float* values) {
  const SvmRoutines& run = svm_routines();
  const int classes = machine.n_classes, width = classes - 1;
  sums_.assign(static_cast<std::size_t>(classes) * width, 0.0);
  const double* coef = machine.coef;
  for (int a = 0; a < classes; ++a) {
    const int count = machine.class_support[a];
    run.weighted_sums(values, coef, count, width, sums_.data() + static_cast<std::size_t>(a) * width);
    values += count;
    coef += static_cast<std::int64_t>(count) * width;
  }
  decisions_.resize(machine.n_pairs());
  int pair = 0;
  for (int a = 0; a < classes; ++a)
    for (int b = a + 1; b < classes; ++b, ++pair)
      decisions_[pair] = sums_[static_cast<std::size_t>(a) * width + b - 1] +
                         sums_[static_cast<std::size_t>(b) * width + a] + machine.bias[pair];
  return decisions_.data();
}

int MachineVotes::winner(const MachineView& machine, const double* decisions) {
  votes_.assign(machine.n_classes, 0);
  int pair = 0;
  for (int a = 0; a < machine.n_classes; ++a)
    for (int b = a + 1; b < machine.n_classes; ++b, ++pair) ++votes_[decisions[pair] > 0.0 ? a : b];
  int best = 0;
  for (int a = 1; a < machine.n_classes; ++a)
    if (votes_[a] > votes_[best]) best = a;
  return best;
}

}  // namespace surewood
