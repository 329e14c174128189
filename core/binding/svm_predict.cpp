// Registers prediction with trained SVMs: their arrays as one checked object, then one call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "binding/stop.hpp"
#include "binding/svm_options.hpp"
#include "svm/table_check.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

// Trained SVMs and their support rows; every number that a prediction follows has been checked.
struct TableArgument {
  AnyArray arrays[11];
  SvmOffsets offsets;
  SvmTable table;

  TableArgument(AnyArray support_rows, AnyArray support_norms, AnyArray degree, AnyArray scale, AnyArray n_classes,
                AnyArray n_support, AnyArray classes, AnyArray class_support, AnyArray bias, AnyArray support,
                AnyArray coef)
      : arrays{std::move(support_rows), std::move(support_norms), std::move(degree),  std::move(scale),
               std::move(n_classes),    std::move(n_support),     std::move(classes), std::move(class_support),
               std::move(bias),         std::move(support),       std::move(coef)} {
    if (arrays[0].ndim() == 2) rows_that_fit(arrays[0].shape(0), "support_rows has rows");
    table.rows = require<double>(arrays[0], "support_rows", {-1, -1});
    table.n_rows = static_cast<int>(arrays[0].shape(0));
    table.d = static_cast<int>(rows_that_fit(arrays[0].shape(1), "support_rows has columns"));
    table.norms = require<float>(arrays[1], "support_norms", {table.n_rows});
    table.degree = require<std::int32_t>(arrays[2], "degree", {-1});
    const std::int64_t count = rows_that_fit(arrays[2].shape(0), "degree has entries");
    table.n_svms = static_cast<int>(count);
    table.scale = require<double>(arrays[3], "scale", {count});
    table.n_classes = require<std::int32_t>(arrays[4], "n_classes", {count});
    table.n_support = require<std::int32_t>(arrays[5], "n_support", {count});
    table.classes = require<std::int32_t>(arrays[6], "classes", {-1});
    table.class_support = require<std::int32_t>(arrays[7], "class_support", {-1});
    table.bias = require<double>(arrays[8], "bias", {-1});
    table.support = require<std::int32_t>(arrays[9], "support", {-1});
    table.coef = require<double>(arrays[10], "coef", {-1});
    const SvmSizes sizes{size(6), size(7), size(8), size(9), size(10)};
    refuse("SVMs", flaw_of_table(table, sizes, offsets));
    table.class_at = offsets.class_at.data();
    table.pair_at = offsets.pair_at.data();
    table.support_at = offsets.support_at.data();
    table.coef_at = offsets.coef_at.data();
  }
  TableArgument(const TableArgument&) = delete;  // the table points into the offsets

  std::int64_t size(int k) const { return static_cast<std::int64_t>(arrays[k].shape(0)); }
};

// Row numbers below n.
const std::int32_t* checked_numbers(const AnyArray& numbers, const char* name, std::int64_t count, std::int64_t n) {
  const auto* all = require<std::int32_t>(numbers, name, {count});
  for (std::int64_t k = 0; k < count; ++k)
    if (all[k] < 0 || all[k] >= n) throw nb::value_error("stored products: a row number is out of range");
  return all;
}

// Writes into the outputs that are given; all have one row per row of x.
void predict(const TableArgument& svms, const KernelArgument& kernel, const AnyArray& x, const AnyArray& assign,
             const std::optional<WritableArray>& codes, const std::optional<WritableArray>& vote_fractions,
             const std::optional<WritableArray>& decisions, const std::optional<AnyArray>& products,
             const std::optional<AnyArray>& product_rows, const std::optional<AnyArray>& support_index,
             const AnyArray& stop) {
  const auto* row = require<double>(x, "x", {-1, svms.table.d});
  const auto rows = static_cast<std::int64_t>(x.shape(0));
  const auto* assigned = require<std::int32_t>(assign, "assign", {rows, -1});
  const auto tasks = rows_that_fit(assign.shape(1), "assign has tasks");
  PredictionTarget out;
  if (codes) out.codes = require_out<std::int32_t>(*codes, "codes", {rows, tasks});
  if (vote_fractions) {
    out.vote_fractions = require_out<double>(*vote_fractions, "vote_fractions", {rows, -1});
    out.total_classes = static_cast<int>(rows_that_fit(vote_fractions->shape(1), "vote_fractions has columns"));
  }
  if (decisions) {
    out.decisions = require_out<double>(*decisions, "decisions", {rows, tasks, -1});
    out.decision_width = static_cast<int>(rows_that_fit(decisions->shape(2), "decisions has columns"));
  }
  refuse("SVMs", flaw_of_tasks(svms.table, assigned, rows * tasks, out));
  StoredProducts stored;
  if (products) {
    if (!product_rows || !support_index) throw nb::value_error("products: row numbers are missing");
    stored.n = products->ndim() == 2 ? static_cast<std::int64_t>(products->shape(0)) : -1;
    stored.matrix = require<float>(*products, "products", {stored.n, stored.n});
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
void count(const AnyArray& codes, const WritableArray& out) {
  const auto* code = require<std::int32_t>(codes, "codes", {-1, -1});
  const std::size_t rows = codes.shape(0), tasks = codes.shape(1);
  double* counts = require_out<double>(out, "out", {static_cast<std::int64_t>(rows), -1});
  if (!count_codes(code, rows, tasks, out.shape(1), counts))
    throw nb::value_error("codes: a code is not below the number of classes");
}

}  // namespace

void register_svm_predict(nb::module_& module) {
  nb::class_<TableArgument>(module, "SvmTable", "Trained SVMs over one set of support rows, checked.")
      .def(nb::init<AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray,
                    AnyArray>(),
           nb::kw_only(), "support_rows"_a.noconvert(), "support_norms"_a.noconvert(), "degree"_a.noconvert(),
           "scale"_a.noconvert(), "n_classes"_a.noconvert(), "n_support"_a.noconvert(), "classes"_a.noconvert(),
           "class_support"_a.noconvert(), "bias"_a.noconvert(), "support"_a.noconvert(), "coef"_a.noconvert());
  module.def("svm_predict", &predict, "svms"_a, "kernel"_a, "x"_a.noconvert(), "assign"_a.noconvert(), nb::kw_only(),
             "codes"_a.noconvert().none() = nb::none(), "vote_fractions"_a.noconvert().none() = nb::none(),
             "decisions"_a.noconvert().none() = nb::none(), "products"_a.noconvert().none() = nb::none(),
             "product_rows"_a.noconvert().none() = nb::none(), "support_index"_a.noconvert().none() = nb::none(),
             "stop"_a.noconvert(), "Votes of SVM assign[r, t] at row r; the GIL is released.");
  module.def("count_votes", &count, "codes"_a.noconvert(), "out"_a.noconvert(),
             "Add the number of entries of each code in each row of `codes` to `out`.");
}

}  // namespace surewood::binding
