// Registers what both engines and the tables need: instruction sets, random words, words of the contents of rows.
#include "binding/arguments.hpp"
#include "common/cpu.hpp"
#include "common/rng.hpp"
#include "common/row_words.hpp"

namespace surewood::binding {

namespace {

constexpr int kMostDigits = 15;  // that a double holds

auto random_words(std::uint64_t seed, const Array<std::uint64_t>& ids, std::size_t count) {
  const auto* id = require(ids, "ids", {-1});
  std::uint64_t key = stream_key(seed, {});
  for (std::size_t i = 0; i < ids.shape(0); ++i) key = child_key(key, id[i]);
  Stream stream(key);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = stream.next();
  return to_numpy(std::move(words));
}

void add_words(const Array<void>& numbers, const Array<std::uint64_t>& keys, int digits,
               const Output<std::uint64_t>& out) {
  within(digits, "digits", 1, kMostDigits);
  with_numbers(numbers, [&](auto view) {
    const std::size_t n_columns = numbers.shape(1);
    const auto* key = require(keys, "keys", {static_cast<std::int64_t>(n_columns)});
    auto* total = require(out, "out", {static_cast<std::int64_t>(view.n_rows)});
    nb::gil_scoped_release release;
    add_row_words(view, n_columns, key, digits, total);
  });
}

}  // namespace

void register_common(nb::module_& module) {
  module.def("instruction_set", &instruction_set_name,
             "The instruction set that the kernels use: the best one of this processor and build by default.");
  module.def("use_instruction_set", &use_instruction_set, "name"_a,
             "Use 'baseline', 'avx2' or 'avx512' in all kernels; False where there is no such set. For tests.");
  module.def("random_words", &random_words, "seed"_a, "ids"_a, "count"_a,
             "The first `count` words of the stream keyed by (seed, ids).");
  module.def("add_row_words", &add_words, "numbers"_a, "keys"_a, "digits"_a, "out"_a,
             "Add to `out` a word of the numbers of each row, rounded to this many significant digits.");
}

}  // namespace surewood::binding
