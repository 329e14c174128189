// Prediction by many SVMs from one product of the new rows with the support rows.
#pragma once

#include <cstdint>
#include <vector>

#include "svm/dual.hpp"
#include "svm/pairwise_svm.hpp"

namespace surewood {

// SVMs that share one set of support rows; `support` points into that set.
struct SvmTable {
  int n_svms = 0;
  const std::int32_t *degree, *n_classes, *n_support;             // per SVM
  const double* scale;                                            // per SVM
  const std::int64_t *class_at, *pair_at, *support_at, *coef_at;  // offsets per SVM
  const std::int32_t *classes, *class_support;                    // per class of an SVM
  const double* bias;                                             // per pair of an SVM
  const std::int32_t* support;
  const double* coef;
  const double* rows = nullptr;  // the support rows, (n_rows, d)
  const float* norms = nullptr;  // their squared norms
  int n_rows = 0, d = 0;

  SvmView svm(int m) const {
    return {n_classes[m], n_support[m], class_support + class_at[m], coef + coef_at[m], bias + pair_at[m]};
  }
};

// Products of the rows with the support rows where they were stored: row r of the prediction is row `row[r]` of the
// matrix, support row s its column `support[s]`.
struct StoredProducts {
  const float* matrix = nullptr;  // (n, n), nullptr: none
  std::int64_t n = 0;
  const std::int32_t *row = nullptr, *support = nullptr;
};

inline std::int32_t code_without_svm(std::int32_t assigned) { return assigned == -1 ? -1 : -2 - assigned; }

// What to write; pointers that are null are not wanted.
struct PredictionTarget {
  std::int32_t* codes = nullptr;     // (rows, tasks): the class with the most votes
  double* vote_fractions = nullptr;  // (rows, total_classes): sum over tasks of votes / pairs
  int total_classes = 0;
  double* decisions = nullptr;  // (rows, tasks, decision_width): pairwise decision values
  int decision_width = 0;
};

// Adds the number of entries c in each row of `codes` (rows, tasks) to counts (rows, classes); entries below 0 do not
// count. False where a code is not below `classes`.
bool count_codes(const std::int32_t* codes, std::size_t rows, std::size_t tasks, std::size_t classes, double* counts);

// Task t of row r is done by SVM assign[r * tasks + t]. -1 is no SVM (code -1), a number below that the
// constant -2 - number. False when stopped.
// Two ways to the same answers, whichever should be quicker: one product of every row with all support rows,
// or rows sorted by SVM and put to it in blocks (svm/vote_block.hpp). Stored products, which are the same numbers, are
// read in blocks; only where codes alone are wanted.
bool predict_rows(const double* x, std::int64_t rows, const KernelSpec& kernel, const SvmTable& table,
                  const StoredProducts& stored, const std::int32_t* assign, int tasks, StopSignal& stop,
                  const PredictionTarget& out);

}  // namespace surewood
