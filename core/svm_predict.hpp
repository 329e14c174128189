// Prediction by many machines from one product of the new rows with the support rows.
#pragma once

#include <cstdint>
#include <vector>

#include "machine.hpp"
#include "svm_dual.hpp"

namespace surewood {

// Machines that share one set of support rows; `support` points into that set.
struct MachineTable {
  int n_machines = 0;
  const std::int32_t *degree, *n_classes, *n_support;             // a machine
  const double* scale;                                            // a machine
  const std::int64_t *class_at, *pair_at, *support_at, *coef_at;  // offsets, a machine
  const std::int32_t *classes, *class_support;                    // a class of a machine
  const double* bias;                                             // a pair of a machine
  const std::int32_t* support;
  const double* coef;
};

// What to write; pointers that are null are not wanted.
struct PredictionTarget {
  std::int32_t* codes = nullptr;   // (rows, tasks): the class with the most votes
  double* vote_share = nullptr;    // (rows, total_classes): sum over tasks of votes / pairs
  int total_classes = 0;
  double* decisions = nullptr;     // (rows, tasks, decision_width): pairwise decision values
  int decision_width = 0;
};

// Task t of row r is done by machine assign[r * tasks + t] (negative: none, code -1). False when stopped.
bool predict_rows(const double* x, std::int64_t rows, int d, const PackedRows& support_rows,
                  const float* support_norms, const KernelSpec& kernel, const MachineTable& table,
                  const std::int32_t* assign, int tasks, StopSignal& stop, const PredictionTarget& out);

}  // namespace surewood
