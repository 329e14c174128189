#include "svm/solve_batch.hpp"

#include <algorithm>
#include <vector>

namespace surewood {

namespace {

// The most numbers that the results of a batch may be.
struct ResultSizes {
  std::size_t points = 0, classes = 0, pairs = 0, coefficients = 0;

  void add(std::size_t group_points, std::size_t group_classes) {
    points += group_points;
    classes += group_classes;
    pairs += group_classes * (group_classes - 1) / 2;
    coefficients += group_points * (group_classes - 1);
  }
};

ResultSizes result_sizes(const ProblemList& problems, const std::int32_t* label) {
  ResultSizes sizes;
  std::vector<std::int64_t> last_seen;  // group in which a class was last seen
  std::size_t classes = 0;
  for (std::int64_t p = 0; p < problems.count; ++p) {
    const std::int32_t* own = problems.points_of(p);
    const std::int64_t group = problems.group[p];
    if (p == 0 || group != problems.group[p - 1]) {
      classes = 0;
      for (std::int64_t k = 0; k < problems.size_of(p); ++k) {
        const auto c = static_cast<std::size_t>(label[own[k]]);
        if (c >= last_seen.size()) last_seen.resize(c + 1, -1);
        classes += last_seen[c] != p;
        last_seen[c] = p;
      }
    }
    sizes.add(static_cast<std::size_t>(problems.size_of(p)), classes);
  }
  return sizes;
}

// Room for all results: growing them would copy, and leave holes. What stays unused is never written: it costs nothing.
void reserve(const ProblemList& problems, const std::int32_t* label, bool decisions, SvmBatch& batch) {
  const ResultSizes sizes = result_sizes(problems, label);
  const std::size_t count = static_cast<std::size_t>(problems.count);
  for (auto* of_problem : {&batch.n_classes, &batch.n_support, &batch.n_correct}) of_problem->reserve(count);
  batch.scale.reserve(count);
  for (auto* of_class : {&batch.classes, &batch.class_support}) of_class->reserve(sizes.classes);
  for (auto* of_pair : {&batch.bias, &batch.objective, &batch.gap}) of_pair->reserve(sizes.pairs);
  batch.iterations.reserve(sizes.pairs);
  batch.status.reserve(sizes.pairs);
  batch.support.reserve(sizes.points);
  batch.coef.reserve(sizes.coefficients);
  batch.predicted.reserve(sizes.points);
  if (decisions) batch.decision.reserve(sizes.points);
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
