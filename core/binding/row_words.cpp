// Registers the words of the contents of rows.
#include "binding/numbers.hpp"
#include "binding/registers.hpp"
#include "common/row_words.hpp"

namespace surewood::binding {

using namespace nb::literals;

namespace {

constexpr int kMostDigits = 15;  // that a double holds

void add_words(const AnyArray& numbers, const AnyArray& keys, int digits, const WritableArray& out) {
  if (digits < 1 || digits > kMostDigits) throw nb::value_error("digits: must be between 1 and 15");
  with_numbers(numbers, [&](auto view) {
    const std::size_t n_columns = numbers.shape(1);
    const auto* key = require<std::uint64_t>(keys, "keys", {static_cast<std::int64_t>(n_columns)});
    auto* total = require_out<std::uint64_t>(out, "out", {static_cast<std::int64_t>(view.n_rows)});
    nb::gil_scoped_release release;
    add_row_words(view, n_columns, key, digits, total);
  });
}

}  // namespace

void register_row_words(nb::module_& module) {
  module.def("add_row_words", &add_words, "numbers"_a.noconvert(), "keys"_a.noconvert(), "digits"_a, "out"_a,
             "Add to `out` a word of the numbers of each row, rounded to so many significant digits.");
}

}  // namespace surewood::binding
