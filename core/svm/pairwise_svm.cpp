#include "svm/pairwise_svm.hpp"

namespace surewood {

const double* SvmVotes::decisions(const SvmView& svm, const float* values) {
  const SvmRoutines& run = svm_routines();
  const int classes = svm.n_classes, width = classes - 1;
  sums_.assign(static_cast<std::size_t>(classes) * width, 0.0);
  const double* coef = svm.coef;
  for (int a = 0; a < classes; ++a) {
    const int count = svm.class_support[a];
    run.weighted_sums(values, coef, count, width, sums_.data() + static_cast<std::size_t>(a) * width);
    values += count;
    coef += static_cast<std::int64_t>(count) * width;
  }
  decisions_.resize(svm.n_pairs());
  int pair = 0;
  for (int a = 0; a < classes; ++a)
    for (int b = a + 1; b < classes; ++b, ++pair)
      decisions_[pair] = sums_[static_cast<std::size_t>(a) * width + b - 1] +
                         sums_[static_cast<std::size_t>(b) * width + a] + svm.bias[pair];
  return decisions_.data();
}

int SvmVotes::winner(const SvmView& svm, const double* decisions) {
  // Row by row of the pairs, without a branch: the outcomes are hard to guess.
  const int classes = svm.n_classes;
  votes_.assign(classes, 0);
  std::int32_t* votes = votes_.data();
  for (int a = 0; a < classes; ++a) {
    std::int32_t wins = 0;
    for (int b = a + 1; b < classes; ++b) {
      const std::int32_t won = decisions[b - a - 1] > 0.0;
      wins += won;
      votes[b] += 1 - won;
    }
    votes[a] += wins;
    decisions += classes - a - 1;
  }
  int best = 0;
  for (int a = 1; a < svm.n_classes; ++a)
    if (votes_[a] > votes_[best]) best = a;
  return best;
}

}  // namespace surewood
