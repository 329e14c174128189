// The SVM engine's part of binding/module.cpp: views of Python arrays, one call into the core, arrays back. Ranges of
// indices are checked by the callers in surewood.svm; shapes and dtypes here.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "svm/one_vs_one.hpp"
#include "svm/predict.hpp"

namespace surewood::binding {

using namespace nb::literals;

// A byte shared with the caller, and Ctrl-C when this is the main thread; a function that is told of machines as they
// are done, a few times a second. For a thread that has released the GIL.
class PythonStop final : public surewood::StopSignal {
 public:
  explicit PythonStop(const std::uint8_t* flag, const nb::callable* listener = nullptr)
      : flag_(flag), listener_(listener), last_(Clock::now()), told_(last_) {}
  bool requested() override {
    if (stopped_ || *static_cast<const volatile std::uint8_t*>(flag_)) return true;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return false;
    last_ = now;
    nb::gil_scoped_acquire gil;
    return stopped_ = PyErr_CheckSignals() != 0;
  }
  void done(int machines) override {
    untold_ += machines;
    if (Clock::now() - told_ >= std::chrono::milliseconds(100)) tell();
  }
  void tell() {
    if (!listener_ || untold_ == 0) return;
    nb::gil_scoped_acquire gil;
    (*listener_)(untold_);
    untold_ = 0;
    told_ = Clock::now();
  }
  // With the GIL held: a pending KeyboardInterrupt goes on as such.
  [[noreturn]] static void raise() {
    if (PyErr_Occurred()) throw nb::python_error();
    throw std::runtime_error("the solver was stopped");
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::uint8_t* flag_;
  const nb::callable* listener_;
  Clock::time_point last_, told_;
  std::int64_t untold_ = 0;
  bool stopped_ = false;
};

surewood::KernelSpec kernel_spec(const std::string& kind, double gamma, double coef0) {
  return {kind == "rbf" ? surewood::KernelKind::rbf : surewood::KernelKind::poly, gamma, coef0};
}

// out[i, j] = <a_i, b_j> (float32), rows of `a` from `first` to `last`; written in place so that threads
// may share one matrix.
void inner_products_into(const AnyArray& a, const AnyArray& b, std::int64_t first, std::int64_t last,
                         nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
  const std::int64_t d = static_cast<std::int64_t>(a.shape(1)), n = static_cast<std::int64_t>(b.shape(0));
  const auto* left = require<double>(a, "a", {-1, -1});
  const auto* right = require<double>(b, "b", {-1, d});
  if (first < 0 || last > static_cast<std::int64_t>(a.shape(0)) || first > last)
    throw nb::type_error("first, last: not a range of rows of a");
  if (static_cast<std::int64_t>(out.shape(0)) < last || static_cast<std::int64_t>(out.shape(1)) != n)
    throw nb::type_error("out: wrong shape");
  float* target = out.data();
  nb::gil_scoped_release release;
  // Panels of a few hundred columns stay in the cache while all the rows pass by.
  constexpr std::int64_t kColumns = 256;
  surewood::PackedRows packed;
  for (std::int64_t c = 0; c < n; c += kColumns) {
    packed.pack(right + c * d, static_cast<int>(d), nullptr, static_cast<int>(std::min(kColumns, n - c)));
    surewood::inner_products(left + first * d, static_cast<int>(last - first), static_cast<int>(d), packed,
                             target + first * n + c, n);
  }
}

auto squared_norms(const AnyArray& x) {
  const auto* rows = require<double>(x, "x", {-1, -1});
  std::vector<float> norms(x.shape(0));
  surewood::squared_norms(rows, static_cast<std::int64_t>(x.shape(0)), static_cast<int>(x.shape(1)), norms.data());
  return to_numpy(std::move(norms));
}

nb::dict to_dict(surewood::MachineBatch&& batch) {
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

// Room for all results: growing them would copy, and leave holes. What stays unused is never written: it costs nothing,
// up to an amount that some systems would refuse.
void reserve(surewood::MachineBatch& batch, const std::int32_t* point, const std::int64_t* start,
             const std::int32_t* label, const std::int32_t* of_group, std::int64_t count, bool decisions) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::size_t points = 0;
  std::int32_t last_class = 0;
  for (std::int64_t p = 0; p < count; ++p) {
    points += static_cast<std::size_t>(start[of_group[p] + 1] - start[of_group[p]]);
    if (p > 0 && of_group[p] == of_group[p - 1]) continue;
    for (std::int64_t k = start[of_group[p]]; k < start[of_group[p] + 1]; ++k)
      last_class = std::max(last_class, label[point[k]]);
  }
  const std::size_t problems = static_cast<std::size_t>(count), classes = last_class + 1,
                    pairs = classes * last_class / 2;
  if (points * (classes + 2) + problems * (5 * pairs + classes) > kMost / sizeof(double)) return;
  for (auto* of_problem : {&batch.n_classes, &batch.n_support, &batch.n_correct}) of_problem->reserve(problems);
  batch.scale.reserve(problems);
  for (auto* of_class : {&batch.classes, &batch.class_support}) of_class->reserve(problems * classes);
  for (auto* of_pair : {&batch.bias, &batch.objective, &batch.gap}) of_pair->reserve(problems * pairs);
  batch.iterations.reserve(problems * pairs);
  batch.status.reserve(problems * pairs);
  batch.support.reserve(points);
  batch.coef.reserve(points * last_class);
  batch.predicted.reserve(points);
  if (decisions) batch.decision.reserve(points);
}

// Problem p is (group[p], degree[p], C[p]); problems of one group stand together.
nb::dict svm_solve(const std::optional<AnyArray>& gram, const AnyArray& x, const AnyArray& norms,
                   const std::string& kind, double gamma, double coef0, const AnyArray& points, const AnyArray& starts,
                   const AnyArray& labels, const std::optional<AnyArray>& weights, const AnyArray& group,
                   const AnyArray& degree, const AnyArray& C, double tol, std::int64_t max_iter,
                   std::int64_t cache_bytes, bool warm, bool decisions, const AnyArray& stop,
                   const std::optional<nb::callable>& advance) {
  const std::int64_t n = static_cast<std::int64_t>(x.shape(0)), count = static_cast<std::int64_t>(group.shape(0));
  surewood::InnerSource source;
  source.x = require<double>(x, "x", {-1, -1});
  source.n = n;
  source.d = static_cast<int>(x.shape(1));
  source.norms = require<float>(norms, "norms", {n});
  if (gram) source.gram = require<float>(*gram, "gram", {n, n});
  const auto* point = require<std::int32_t>(points, "points", {-1});
  const auto* start = require<std::int64_t>(starts, "starts", {-1});
  const auto* label = require<std::int32_t>(labels, "labels", {n});
  const double* weight = weights ? require<double>(*weights, "weights", {n}) : nullptr;
  const auto* of_group = require<std::int32_t>(group, "group", {-1});
  const auto* of_degree = require<std::int32_t>(degree, "degree", {count});
  const auto* of_C = require<double>(C, "C", {count});
  PythonStop signal(require<std::uint8_t>(stop, "stop", {1}), advance ? &*advance : nullptr);
  surewood::SolveOptions options;
  options.tol = tol;
  options.max_iter = max_iter;
  options.cache_bytes = static_cast<std::size_t>(cache_bytes);
  options.warm = warm;
  options.decisions = decisions;
  surewood::MachineBatch batch;
  bool finished = true;
  {
    nb::gil_scoped_release release;
    surewood::OneVsOneSolver solver(source, kernel_spec(kind, gamma, coef0), options, signal);
    reserve(batch, point, start, label, of_group, count, decisions);
    std::int64_t largest = 0;
    for (std::int64_t p = 0; p < count; ++p) largest = std::max(largest, start[of_group[p] + 1] - start[of_group[p]]);
    solver.expect(static_cast<int>(largest));
    for (std::int64_t p = 0, next; p < count && finished; p = next) {
      next = p + 1;
      while (next < count && of_group[next] == of_group[p]) ++next;
      const std::int64_t first = start[of_group[p]];
      finished = solver.solve(point + first, static_cast<int>(start[of_group[p] + 1] - first), label, weight,
                              of_degree + p, of_C + p, static_cast<int>(next - p), batch);
    }
    if (finished) signal.tell();
  }
  if (!finished) PythonStop::raise();
  return to_dict(std::move(batch));
}

// Offsets are exclusive; `machines` is a dict of the arrays of surewood::MachineTable.
surewood::MachineTable machine_table(const nb::dict& machines) {
  auto array = [&](const char* name) { return nb::cast<AnyArray>(machines[name]); };
  surewood::MachineTable table;
  AnyArray degree = array("degree");
  const std::int64_t count = static_cast<std::int64_t>(degree.shape(0));
  table.n_machines = static_cast<int>(count);
  table.degree = require<std::int32_t>(degree, "degree", {count});
  table.n_classes = require<std::int32_t>(array("n_classes"), "n_classes", {count});
  table.n_support = require<std::int32_t>(array("n_support"), "n_support", {count});
  table.scale = require<double>(array("scale"), "scale", {count});
  table.class_at = require<std::int64_t>(array("class_at"), "class_at", {count + 1});
  table.pair_at = require<std::int64_t>(array("pair_at"), "pair_at", {count + 1});
  table.support_at = require<std::int64_t>(array("support_at"), "support_at", {count + 1});
  table.coef_at = require<std::int64_t>(array("coef_at"), "coef_at", {count + 1});
  table.classes = require<std::int32_t>(array("classes"), "classes", {-1});
  table.class_support = require<std::int32_t>(array("class_support"), "class_support", {-1});
  table.bias = require<double>(array("bias"), "bias", {-1});
  table.support = require<std::int32_t>(array("support"), "support", {-1});
  table.coef = require<double>(array("coef"), "coef", {-1});
  return table;
}

using IntOut = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ScoreOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DecisionOut = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Writes into the outputs that are given; all have one row a row of x.
void svm_predict(const AnyArray& x, const AnyArray& support_rows, const AnyArray& support_norms,
                 const std::string& kind, double gamma, double coef0, const nb::dict& machines, const AnyArray& assign,
                 const std::optional<IntOut>& codes, const std::optional<ScoreOut>& vote_share,
                 const std::optional<DecisionOut>& decisions, const AnyArray& stop) {
  const std::int64_t rows = static_cast<std::int64_t>(x.shape(0)), d = static_cast<std::int64_t>(x.shape(1));
  const auto* row = require<double>(x, "x", {-1, -1});
  const auto* machine = require<std::int32_t>(assign, "assign", {rows, -1});
  const int tasks = static_cast<int>(assign.shape(1));
  surewood::MachineTable table = machine_table(machines);
  table.rows = require<double>(support_rows, "support_rows", {-1, d});
  table.n_rows = static_cast<int>(support_rows.shape(0));
  table.norms = require<float>(support_norms, "support_norms", {table.n_rows});
  table.d = static_cast<int>(d);
  surewood::PredictionTarget out;
  if (codes) out.codes = codes->data();
  if (vote_share) {
    out.vote_share = vote_share->data();
    out.total_classes = static_cast<int>(vote_share->shape(1));
  }
  if (decisions) {
    out.decisions = decisions->data();
    out.decision_width = static_cast<int>(decisions->shape(2));
  }
  PythonStop signal(require<std::uint8_t>(stop, "stop", {1}));
  bool finished;
  {
    nb::gil_scoped_release release;
    finished = surewood::predict_rows(row, rows, kernel_spec(kind, gamma, coef0), table, machine, tasks, signal, out);
  }
  if (!finished) PythonStop::raise();
}

// out[r, c] += number of entries c in row r of `codes`; entries below 0 do not vote.
void count_votes(const AnyArray& codes, ScoreOut out) {
  const std::int64_t rows = static_cast<std::int64_t>(codes.shape(0)),
                     tasks = static_cast<std::int64_t>(codes.shape(1));
  const auto* code = require<std::int32_t>(codes, "codes", {static_cast<std::int64_t>(out.shape(0)), -1});
  const auto classes = static_cast<std::int64_t>(out.shape(1));
  double* counts = out.data();
  for (std::int64_t r = 0; r < rows; ++r, counts += classes)
    for (std::int64_t t = 0; t < tasks; ++t, ++code) {
      if (*code >= classes) throw nb::value_error("codes: a code is not below the number of classes");
      if (*code >= 0) counts[*code] += 1.0;
    }
}

void register_svm(nb::module_& module) {
  module.def("inner_products_into", &inner_products_into, "a"_a.noconvert(), "b"_a.noconvert(), "first"_a, "last"_a,
             "out"_a.noconvert(), "out[first:last] = a[first:last] @ b.T, float32, the same for any range.");
  module.def("squared_norms", &squared_norms, "x"_a.noconvert(), "Inner products of the rows with themselves.");
  module.def("svm_solve", &svm_solve, "gram"_a.noconvert().none(), "x"_a.noconvert(), "norms"_a.noconvert(), "kind"_a,
             "gamma"_a, "coef0"_a, "points"_a.noconvert(), "starts"_a.noconvert(), "labels"_a.noconvert(),
             "weights"_a.noconvert().none(), "group"_a.noconvert(), "degree"_a.noconvert(), "C"_a.noconvert(), "tol"_a,
             "max_iter"_a, "cache_bytes"_a, "warm"_a, "decisions"_a, "stop"_a.noconvert(),
             "advance"_a.none() = nb::none(),
             "One-vs-one machines for problems (group, degree, C); the GIL is released.");
  module.def("svm_predict", &svm_predict, "x"_a.noconvert(), "support_rows"_a.noconvert(),
             "support_norms"_a.noconvert(), "kind"_a, "gamma"_a, "coef0"_a, "machines"_a, "assign"_a.noconvert(),
             "codes"_a.noconvert().none(), "vote_share"_a.noconvert().none(), "decisions"_a.noconvert().none(),
             "stop"_a.noconvert(), "Votes of machine assign[r, t] at row r; the GIL is released.");
  module.def("count_votes", &count_votes, "codes"_a.noconvert(), "out"_a.noconvert(),
             "Add the number of entries of each code in each row of `codes` to `out`.");
}

}  // namespace surewood::binding
