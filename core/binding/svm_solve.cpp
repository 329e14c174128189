// Registers the training of batches of SVMs: options, rows and problems as checked objects, then one call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "binding/stop.hpp"
#include "binding/svm_options.hpp"
#include "svm/solve_batch.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

struct SolveOptionsArgument : SolveOptions {
  SolveOptionsArgument(double tolerance, std::int64_t iterations, std::int64_t bytes, bool from_smaller_C, bool keep) {
    if (!(tolerance > 0.0 && std::isfinite(tolerance))) throw nb::value_error("tol must be positive and finite.");
    tol = tolerance;
    max_iter = within<std::int64_t>(iterations, "max_iter", 0, INT64_MAX);
    cache_bytes = static_cast<std::size_t>(within<std::int64_t>(bytes, "cache_bytes", 0, INT64_MAX));
    warm = from_smaller_C;
    decisions = keep;
  }
};

// Training rows, their squared norms and, where they are stored, their inner products.
struct RowsArgument {
  AnyArray x, norms;
  std::optional<AnyArray> gram;
  InnerSource source;

  RowsArgument(AnyArray own_x, AnyArray own_norms, std::optional<AnyArray> own_gram)
      : x(std::move(own_x)), norms(std::move(own_norms)), gram(std::move(own_gram)) {
    if (x.ndim() == 2) rows_that_fit(x.shape(0), "x has rows"), rows_that_fit(x.shape(1), "x has columns");
    source.x = require<double>(x, "x", {-1, -1});
    source.n = static_cast<std::int64_t>(x.shape(0));
    source.d = static_cast<int>(x.shape(1));
    source.norms = require<float>(norms, "norms", {source.n});
    if (gram) source.gram = require<float>(*gram, "gram", {source.n, source.n});
  }
};

struct ProblemsArgument {
  AnyArray points, starts, group, degree, C;
  ProblemList list;

  ProblemsArgument(AnyArray own_points, AnyArray own_starts, AnyArray own_group, AnyArray own_degree, AnyArray own_C)
      : points(std::move(own_points)),
        starts(std::move(own_starts)),
        group(std::move(own_group)),
        degree(std::move(own_degree)),
        C(std::move(own_C)) {
    list.points = require<std::int32_t>(points, "points", {-1});
    list.start = require<std::int64_t>(starts, "starts", {-1});
    list.group = require<std::int32_t>(group, "group", {-1});
    list.count = static_cast<std::int64_t>(group.shape(0));
    list.degree = require<std::int32_t>(degree, "degree", {list.count});
    list.C = require<double>(C, "C", {list.count});
    list.n_groups = static_cast<std::int64_t>(starts.shape(0)) - 1;
    check_groups();
    for (std::int64_t p = 0; p < list.count; ++p) {
      if (list.group[p] < 0 || list.group[p] >= list.n_groups) throw nb::value_error("group: there is no such group.");
      within<int>(list.degree[p], "degree", 0, kMaxDegree);
      if (!(list.C[p] > 0.0)) throw nb::value_error("C must be positive.");
    }
  }

  void check_groups() const {
    if (list.n_groups < 0 || list.start[0] != 0) throw nb::value_error("starts must begin with 0.");
    for (std::int64_t g = 0; g < list.n_groups; ++g)
      if (list.start[g + 1] <= list.start[g]) throw nb::value_error("starts must ascend: no group is empty.");
    if (list.start[list.n_groups] != static_cast<std::int64_t>(points.shape(0)))
      throw nb::value_error("starts must end at the length of points.");
    for (std::int64_t g = 0; g < list.n_groups; ++g)
      if (list.start[g + 1] - list.start[g] > kMostRows) throw nb::value_error("starts: a group has too many rows.");
  }
};

nb::dict to_dict(SvmBatch&& batch) {
  nb::dict out;
  out["n_classes"] = to_numpy(std::move(batch.n_classes));
  out["n_support"] = to_numpy(std::move(batch.n_support));
  out["n_correct"] = to_numpy(std::move(batch.n_correct));
  out["scale"] = to_numpy(std::move(batch.scale));
  out["classes"] = to_numpy(std::move(batch.classes));
  out["class_support"] = to_numpy(std::move(batch.class_support));
  out["bias"] = to_numpy(std::move(batch.bias));
  out["objective"] = to_numpy(std::move(batch.objective));
  out["gap"] = to_numpy(std::move(batch.gap));
  out["iterations"] = to_numpy(std::move(batch.iterations));
  out["status"] = to_numpy(std::move(batch.status));
  out["support"] = to_numpy(std::move(batch.support));
  out["coef"] = to_numpy(std::move(batch.coef));
  out["predicted"] = to_numpy(std::move(batch.predicted));
  out["decision"] = to_numpy(std::move(batch.decision));
  return out;
}

nb::dict solve(const RowsArgument& rows, const KernelArgument& kernel, const ProblemsArgument& problems,
               const AnyArray& labels, const std::optional<AnyArray>& weights, const SolveOptionsArgument& options,
               const AnyArray& stop, const std::optional<nb::callable>& advance) {
  const std::int64_t n = rows.source.n;
  const auto* label = require<std::int32_t>(labels, "labels", {n});
  const double* weight = weights ? require<double>(*weights, "weights", {n}) : nullptr;
  const auto n_points = static_cast<std::int64_t>(problems.points.shape(0));
  for (std::int64_t k = 0; k < n_points; ++k) {
    const std::int32_t row = problems.list.points[k];
    if (row < 0 || row >= n) throw nb::value_error("points: a row number is not a row of x.");
    if (label[row] < 0) throw nb::value_error("labels: a class code is negative.");
    if (weight && !(weight[row] > 0.0 && std::isfinite(weight[row])))
      throw nb::value_error("weights must be positive and finite.");
  }
  PythonStop signal(stop, advance ? &*advance : nullptr);
  SvmBatch batch;
  bool finished;
  {
    nb::gil_scoped_release release;
    finished = solve_batch(rows.source, kernel, problems.list, label, weight, options, signal, batch);
    if (finished) signal.tell();
  }
  if (!finished) PythonStop::raise();
  return to_dict(std::move(batch));
}

}  // namespace

void register_svm_solve(nb::module_& module) {
  module.attr("MAX_DEGREE") = kMaxDegree;
  nb::class_<KernelArgument>(module, "Kernel", "A kernel of inner products: 'poly' or 'rbf'.")
      .def(nb::init<const std::string&, double, double>(), "kind"_a, "gamma"_a, "coef0"_a);
  nb::class_<SolveOptionsArgument>(module, "SolveOptions", "How duals are solved.")
      .def(nb::init<double, std::int64_t, std::int64_t, bool, bool>(), nb::kw_only(), "tol"_a, "max_iter"_a,
           "cache_bytes"_a, "warm"_a, "decisions"_a);
  nb::class_<RowsArgument>(module, "TrainingRows", "Rows, their squared norms and, where stored, their products.")
      .def(nb::init<AnyArray, AnyArray, std::optional<AnyArray>>(), nb::kw_only(), "x"_a.noconvert(),
           "norms"_a.noconvert(), "gram"_a.noconvert().none());
  nb::class_<ProblemsArgument>(module, "Problems", "Groups of rows, and problems (group, degree, C) on them.")
      .def(nb::init<AnyArray, AnyArray, AnyArray, AnyArray, AnyArray>(), nb::kw_only(), "points"_a.noconvert(),
           "starts"_a.noconvert(), "group"_a.noconvert(), "degree"_a.noconvert(), "C"_a.noconvert());
  module.def("svm_solve", &solve, "rows"_a, "kernel"_a, "problems"_a, "labels"_a.noconvert(),
             "weights"_a.noconvert().none(), "options"_a, "stop"_a.noconvert(), "advance"_a.none() = nb::none(),
             "One-vs-one SVMs for all problems; the GIL is released.");
}

}  // namespace surewood::binding
