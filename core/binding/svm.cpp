// Registers the SVM engine: products of rows; batches of SVMs, with options, rows and problems as checked objects;
// votes of trained SVMs, whose arrays are one checked object.
#include <algorithm>
#include <cmath>

#include "binding/arguments.hpp"
#include "binding/stop.hpp"
#include "svm/kernel.hpp"
#include "svm/one_vs_one.hpp"
#include "svm/table_check.hpp"

namespace surewood::binding {

namespace {

// out[i, j] = <a_i, b_j> (float32), rows of `a` from `first` to `last`; written in place so that threads may fill one
// matrix together.
void products_into(const Array<double>& a, const Array<double>& b, std::int64_t first, std::int64_t last,
                   const Output<float>& out) {
  const auto* left = require(a, "a", {-1, -1});
  const std::int64_t d = rows_that_fit(a.shape(1), "a has columns");
  const auto* right = require(b, "b", {-1, d});
  const auto n = static_cast<std::int64_t>(b.shape(0)), rows = static_cast<std::int64_t>(a.shape(0));
  if (first < 0 || last > rows || first > last || last - first > kMostRows)
    throw nb::value_error("first, last: not a range of rows of a");
  float* target = require(out, "out", {rows, n});
  nb::gil_scoped_release release;
  inner_products_into(left, first, last, static_cast<int>(d), right, n, target);
}

auto norms(const Array<double>& x) {
  const auto* rows = require(x, "x", {-1, -1});
  const auto d = static_cast<int>(rows_that_fit(x.shape(1), "x has columns"));
  std::vector<float> norms(x.shape(0));
  squared_norms(rows, static_cast<std::int64_t>(x.shape(0)), d, norms.data());
  return to_numpy(std::move(norms));
}

// The kernel as a Python object: refused where it is not one of the known kinds.
struct KernelArgument : KernelSpec {
  KernelArgument(const std::string& kind, double gamma, double coef0)
      : KernelSpec{choice<KernelKind>(kind, "kind", {{"poly", KernelKind::poly}, {"rbf", KernelKind::rbf}}), gamma,
                   coef0} {
    if (!(std::isfinite(gamma) && gamma > 0.0)) throw nb::value_error("gamma must be positive and finite.");
    if (!std::isfinite(coef0)) throw nb::value_error("coef0 must be finite.");
  }
};

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
  Array<double> x;
  Array<float> norms;
  std::optional<Array<float>> gram;
  InnerSource source;

  RowsArgument(Array<double> rows, Array<float> row_norms, std::optional<Array<float>> products)
      : x(std::move(rows)), norms(std::move(row_norms)), gram(std::move(products)) {
    if (x.ndim() == 2) rows_that_fit(x.shape(0), "x has rows"), rows_that_fit(x.shape(1), "x has columns");
    source.x = require(x, "x", {-1, -1});
    source.n = static_cast<std::int64_t>(x.shape(0));
    source.d = static_cast<int>(x.shape(1));
    source.norms = require(norms, "norms", {source.n});
    source.gram = require(gram, "gram", {source.n, source.n});
  }
};

struct ProblemsArgument {
  Array<std::int32_t> points;
  Array<std::int64_t> starts;
  Array<std::int32_t> group, degree;
  Array<double> C;
  ProblemList list;

  ProblemsArgument(Array<std::int32_t> group_points, Array<std::int64_t> group_starts,
                   Array<std::int32_t> problem_group, Array<std::int32_t> problem_degree, Array<double> problem_C)
      : points(std::move(group_points)),
        starts(std::move(group_starts)),
        group(std::move(problem_group)),
        degree(std::move(problem_degree)),
        C(std::move(problem_C)) {
    list.points = require(points, "points", {-1});
    list.start = require(starts, "starts", {-1});
    list.group = require(group, "group", {-1});
    list.count = static_cast<std::int64_t>(group.shape(0));
    list.degree = require(degree, "degree", {list.count});
    list.C = require(C, "C", {list.count});
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

using SolvedArrays = nb::typed<nb::dict, nb::str, Array<void>>;

SolvedArrays to_dict(SvmBatch&& batch) {
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

using Advance = nb::typed<nb::callable, void(std::int64_t)>;

SolvedArrays solve(const RowsArgument& rows, const KernelArgument& kernel, const ProblemsArgument& problems,
                   const Array<std::int32_t>& labels, const std::optional<Array<double>>& weights,
                   const SolveOptionsArgument& options, const Array<std::uint8_t>& stop,
                   const std::optional<Advance>& advance) {
  const std::int64_t n = rows.source.n;
  const auto* label = require(labels, "labels", {n});
  const double* weight = require(weights, "weights", {n});
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
    if (finished) signal.report();
  }
  if (!finished) PythonStop::raise();
  return to_dict(std::move(batch));
}

// Trained SVMs and their support rows; every number that a prediction follows has been checked.
struct TableArgument {
  AnyArray arrays[11];  // keeps alive what `table` points into
  SvmOffsets offsets;
  SvmTable table;

  TableArgument(Array<double> support_rows, Array<float> support_norms, Array<std::int32_t> degree, Array<double> scale,
                Array<std::int32_t> n_classes, Array<std::int32_t> n_support, Array<std::int32_t> classes,
                Array<std::int32_t> class_support, Array<double> bias, Array<std::int32_t> support, Array<double> coef)
      : arrays{support_rows, support_norms, degree, scale, n_classes, n_support,
               classes,      class_support, bias,   support, coef} {
    if (support_rows.ndim() == 2) rows_that_fit(support_rows.shape(0), "support_rows has rows");
    table.rows = require(support_rows, "support_rows", {-1, -1});
    table.n_rows = static_cast<int>(support_rows.shape(0));
    table.d = static_cast<int>(rows_that_fit(support_rows.shape(1), "support_rows has columns"));
    table.norms = require(support_norms, "support_norms", {table.n_rows});
    table.degree = require(degree, "degree", {-1});
    const std::int64_t count = rows_that_fit(degree.shape(0), "degree has entries");
    table.n_svms = static_cast<int>(count);
    table.scale = require(scale, "scale", {count});
    table.n_classes = require(n_classes, "n_classes", {count});
    table.n_support = require(n_support, "n_support", {count});
    table.classes = require(classes, "classes", {-1});
    table.class_support = require(class_support, "class_support", {-1});
    table.bias = require(bias, "bias", {-1});
    table.support = require(support, "support", {-1});
    table.coef = require(coef, "coef", {-1});
    const auto length = [](const AnyArray& array) { return static_cast<std::int64_t>(array.shape(0)); };
    const SvmSizes sizes{length(classes), length(class_support), length(bias), length(support), length(coef)};
    refuse("SVMs", flaw_of_table(table, sizes, offsets));
    table.class_at = offsets.class_at.data();
    table.pair_at = offsets.pair_at.data();
    table.support_at = offsets.support_at.data();
    table.coef_at = offsets.coef_at.data();
  }
  TableArgument(const TableArgument&) = delete;  // the table points into the offsets
};

// Row numbers below n.
const std::int32_t* checked_numbers(const Array<std::int32_t>& numbers, const char* name, std::int64_t count,
                                    std::int64_t n) {
  const auto* all = require(numbers, name, {count});
  for (std::int64_t k = 0; k < count; ++k)
    if (all[k] < 0 || all[k] >= n) throw nb::value_error("stored products: a row number is out of range");
  return all;
}

// Writes into the outputs that are given; all have one row per row of x.
void predict(const TableArgument& svms, const KernelArgument& kernel, const Array<double>& x,
             const Array<std::int32_t>& assign, const std::optional<Output<std::int32_t>>& codes,
             const std::optional<Output<double>>& vote_fractions, const std::optional<Output<double>>& decisions,
             const std::optional<Array<float>>& products, const std::optional<Array<std::int32_t>>& product_rows,
             const std::optional<Array<std::int32_t>>& support_index, const Array<std::uint8_t>& stop) {
  const auto* row = require(x, "x", {-1, svms.table.d});
  const auto rows = static_cast<std::int64_t>(x.shape(0));
  const auto* assigned = require(assign, "assign", {rows, -1});
  const auto tasks = rows_that_fit(assign.shape(1), "assign has tasks");
  PredictionTarget out;
  out.codes = require(codes, "codes", {rows, tasks});
  out.vote_fractions = require(vote_fractions, "vote_fractions", {rows, -1});
  out.decisions = require(decisions, "decisions", {rows, tasks, -1});
  if (vote_fractions)
    out.total_classes = static_cast<int>(rows_that_fit(vote_fractions->shape(1), "vote_fractions has columns"));
  if (decisions)
    out.decision_width = static_cast<int>(rows_that_fit(decisions->shape(2), "decisions has columns"));
  refuse("SVMs", flaw_of_tasks(svms.table, assigned, rows * tasks, out));
  StoredProducts stored;
  if (products) {
    if (!product_rows || !support_index) throw nb::value_error("products: row numbers are missing");
    stored.n = products->ndim() == 2 ? static_cast<std::int64_t>(products->shape(0)) : -1;
    stored.matrix = require(products, "products", {stored.n, stored.n});
    stored.row = checked_numbers(*product_rows, "product_rows", rows, stored.n);
    stored.support = checked_numbers(*support_index, "support_index", svms.table.n_rows, stored.n);
  }
  PythonStop signal(stop);
  bool finished;
  {
    nb::gil_scoped_release release;
    finished = predict_rows(row, rows, kernel, svms.table, stored, assigned, static_cast<int>(tasks), signal, out);
  }
  if (!finished) PythonStop::raise();
}

// out[r, c] += number of entries c in row r of `codes`; entries below 0 do not vote.
void count(const Array<std::int32_t>& codes, const Output<double>& out) {
  const auto* code = require(codes, "codes", {-1, -1});
  const std::size_t rows = codes.shape(0), tasks = codes.shape(1);
  double* counts = require(out, "out", {static_cast<std::int64_t>(rows), -1});
  if (!count_codes(code, rows, tasks, out.shape(1), counts))
    throw nb::value_error("codes: a code is not below the number of classes");
}

}  // namespace

void register_svm(nb::module_& module) {
  module.def("inner_products_into", &products_into, "a"_a, "b"_a, "first"_a, "last"_a,
             "out"_a, "out[first:last] = a[first:last] @ b.T, float32, the same for any range.");
  module.def(
      "formed_sooner", [](std::int64_t n, int d) { return formed_sooner(n, d); }, "n"_a, "d"_a,
      "Whether solvers form products among n rows of d numbers anew even where the matrix of all is stored.");
  module.def("squared_norms", &norms, "x"_a, "Inner products of the rows with themselves.");
  module.attr("MAX_DEGREE") = kMaxDegree;
  nb::class_<KernelArgument>(module, "Kernel", "A kernel of inner products: 'poly' or 'rbf'.")
      .def(nb::init<const std::string&, double, double>(), "kind"_a, "gamma"_a, "coef0"_a);
  nb::class_<SolveOptionsArgument>(module, "SolveOptions", "How duals are solved.")
      .def(nb::init<double, std::int64_t, std::int64_t, bool, bool>(), nb::kw_only(), "tol"_a, "max_iter"_a,
           "cache_bytes"_a, "warm"_a, "decisions"_a);
  nb::class_<RowsArgument>(module, "TrainingRows", "Rows, their squared norms and, where stored, their products.")
      .def(nb::init<Array<double>, Array<float>, std::optional<Array<float>>>(), nb::kw_only(), "x"_a,
           "norms"_a, "gram"_a.none());
  nb::class_<ProblemsArgument>(module, "Problems", "Groups of rows, and problems (group, degree, C) on them.")
      .def(nb::init<Array<std::int32_t>, Array<std::int64_t>, Array<std::int32_t>, Array<std::int32_t>, Array<double>>(), nb::kw_only(), "points"_a,
           "starts"_a, "group"_a, "degree"_a, "C"_a);
  module.def("svm_solve", &solve, "rows"_a, "kernel"_a, "problems"_a, "labels"_a,
             "weights"_a.none(), "options"_a, "stop"_a, "advance"_a.none() = nb::none(),
             "One-vs-one SVMs for all problems; the GIL is released.");
  nb::class_<TableArgument>(module, "SvmTable", "Trained SVMs over one set of support rows, checked.")
      .def(nb::init<Array<double>, Array<float>, Array<std::int32_t>, Array<double>, Array<std::int32_t>, Array<std::int32_t>,
                    Array<std::int32_t>, Array<std::int32_t>, Array<double>, Array<std::int32_t>, Array<double>>(),
           nb::kw_only(), "support_rows"_a, "support_norms"_a, "degree"_a,
           "scale"_a, "n_classes"_a, "n_support"_a, "classes"_a,
           "class_support"_a, "bias"_a, "support"_a, "coef"_a);
  module.def("svm_predict", &predict, "svms"_a, "kernel"_a, "x"_a, "assign"_a, nb::kw_only(),
             "codes"_a.none() = nb::none(), "vote_fractions"_a.none() = nb::none(),
             "decisions"_a.none() = nb::none(), "products"_a.none() = nb::none(),
             "product_rows"_a.none() = nb::none(), "support_index"_a.none() = nb::none(),
             "stop"_a, "Votes of SVM assign[r, t] at row r; the GIL is released.");
  module.def("count_votes", &count, "codes"_a, "out"_a,
             "Add the number of entries of each code in each row of `codes` to `out`.");
}

}  // namespace surewood::binding
