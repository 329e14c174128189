// Registers inner products of rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "svm/kernel.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

// out[i, j] = <a_i, b_j> (float32), rows of `a` from `first` to `last`; written in place so that threads may fill one
// matrix together.
void products_into(const AnyArray& a, const AnyArray& b, std::int64_t first, std::int64_t last,
                   const WritableArray& out) {
  const auto* left = require<double>(a, "a", {-1, -1});
  const std::int64_t d = rows_that_fit(a.shape(1), "a has columns");
  const auto* right = require<double>(b, "b", {-1, d});
  const auto n = static_cast<std::int64_t>(b.shape(0)), rows = static_cast<std::int64_t>(a.shape(0));
  if (first < 0 || last > rows || first > last || last - first > kMostRows)
    throw nb::value_error("first, last: not a range of rows of a");
  float* target = require_out<float>(out, "out", {rows, n});
  nb::gil_scoped_release release;
  inner_products_into(left, first, last, static_cast<int>(d), right, n, target);
}

auto norms(const AnyArray& x) {
  const auto* rows = require<double>(x, "x", {-1, -1});
  const auto d = static_cast<int>(rows_that_fit(x.shape(1), "x has columns"));
  std::vector<float> norms(x.shape(0));
  squared_norms(rows, static_cast<std::int64_t>(x.shape(0)), d, norms.data());
  return to_numpy(std::move(norms));
}

}  // namespace

void register_inner_products(nb::module_& module) {
  module.def("inner_products_into", &products_into, "a"_a.noconvert(), "b"_a.noconvert(), "first"_a, "last"_a,
             "out"_a.noconvert(), "out[first:last] = a[first:last] @ b.T, float32, the same for any range.");
  module.def(
      "formed_sooner", [](std::int64_t n, int d) { return formed_sooner(n, d); }, "n"_a, "d"_a,
      "Whether solvers form products among n rows of d numbers anew even where the matrix of all is stored.");
  module.def("squared_norms", &norms, "x"_a.noconvert(), "Inner products of the rows with themselves.");
}

}  // namespace surewood::binding
