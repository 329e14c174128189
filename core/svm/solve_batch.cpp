#include "svm/solve_batch.hpp"

#include <algorithm>

namespace surewood {

namespace {

// Room for all results: growing them would copy, and leave holes. What stays unused is never written: it costs nothing,
// up to an amount that some systems would refuse.
void reserve(const ProblemList& problems, const std::int32_t* label, bool decisions, SvmBatch& batch) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::size_t points = 0;
  std::int32_t last_class = 0;
  for (std::int64_t p = 0; p < problems.count; ++p) {
    points += static_cast<std::size_t>(problems.size_of(p));
    if (p > 0 && problems.group[p] == problems.group[p - 1]) continue;
    const std::int32_t* own = problems.points_of(p);
    for (std::int64_t k = 0; k < problems.size_of(p); ++k) last_class = std::max(last_class, label[own[k]]);
  }
  const std::size_t count = static_cast<std::size_t>(problems.count);
  const std::size_t classes = static_cast<std::size_t>(last_class) + 1, pairs = classes * last_class / 2;
  const double numbers = static_cast<double>(points) * (classes + 2.0) + count * (2.5 * classes * last_class + classes);
  if (numbers > kMost / sizeof(double)) return;
  for (auto* of_problem : {&batch.n_classes, &batch.n_support, &batch.n_correct}) of_problem->reserve(count);
  batch.scale.reserve(count);
  for (auto* of_class : {&batch.classes, &batch.class_support}) of_class->reserve(count * classes);
  for (auto* of_pair : {&batch.bias, &batch.objective, &batch.gap}) of_pair->reserve(count * pairs);
  batch.iterations.reserve(count * pairs);
  batch.status.reserve(count * pairs);
  batch.support.reserve(points);
  batch.coef.reserve(points * last_class);
  batch.predicted.reserve(points);
  if (decisions) batch.decision.reserve(points);
}

}  // namespace

bool solve_batch(const InnerSource& source, const KernelSpec& kernel, const ProblemList& problems,
                 const std::int32_t* label, const double* weight, const SolveOptions& options, StopSignal& stop,
                 SvmBatch& out) {
  OneVsOneSolver solver(source, kernel, options, stop);
  reserve(problems, label, options.decisions, out);
  std::int64_t largest = 0;
  for (std::int64_t p = 0; p < problems.count; ++p) largest = std::max(largest, problems.size_of(p));
  solver.expect(static_cast<int>(largest));
  for (std::int64_t p = 0, next; p < problems.count; p = next) {
    next = p + 1;
    while (next < problems.count && problems.group[next] == problems.group[p]) ++next;
    if (!solver.solve(problems.points_of(p), static_cast<int>(problems.size_of(p)), label, weight, problems.degree + p,
                      problems.C + p, static_cast<int>(next - p), out))
      return false;
  }
  return true;
}

}  // namespace surewood
