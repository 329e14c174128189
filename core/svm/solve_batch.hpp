// A batch of one-vs-one SVMs over groups of rows: problem p is (group[p], degree[p], C[p]).
#pragma once

#include <cstdint>

#include "svm/one_vs_one.hpp"

namespace surewood {

struct ProblemList {
  const std::int32_t* points;  // rows of X, group after group
  const std::int64_t* start;   // where each group begins, and the end
  std::int64_t n_groups;
  const std::int32_t *group, *degree;  // per problem; problems of one group stand together
  const double* C;
  std::int64_t count;

  const std::int32_t* points_of(std::int64_t problem) const { return points + start[group[problem]]; }
  std::int64_t size_of(std::int64_t problem) const { return start[group[problem] + 1] - start[group[problem]]; }
};

// Appends the solutions of all problems to `out`; false when a stop was requested. `label` and `weight` (or nullptr)
// are indexed by row of X.
bool solve_batch(const InnerSource& source, const KernelSpec& kernel, const ProblemList& problems,
                 const std::int32_t* label, const double* weight, const SolveOptions& options, StopSignal& stop,
                 SvmBatch& out);

}  // namespace surewood
