// Registers the core with Python. Only the files of this folder include nanobind: they check arguments, take views of
// arrays and call the core once.
//
// Arrays are never converted silently. Every array argument is declared `.noconvert()` and checked by the
// helpers of binding/arrays.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/arrays.hpp"
#include "binding/registers.hpp"
#include "common/cpu.hpp"
#include "common/rng.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace surewood::binding;

namespace {

auto random_words(std::uint64_t seed, const AnyArray& ids, std::size_t count) {
  const auto* id = require<std::uint64_t>(ids, "ids", {-1});
  std::uint64_t key = surewood::stream_key(seed, {});
  for (std::size_t i = 0; i < ids.shape(0); ++i) key = surewood::child_key(key, id[i]);
  surewood::Stream stream(key);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = stream.next();
  return to_numpy(std::move(words));
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of surewood. Import it from surewood.trees, surewood.svm or surewood.tables only.";
  module.def("instruction_set", &surewood::best_instruction_set,
             "The best instruction set of this processor and build: 'avx512', 'avx2' or 'baseline'.");
  module.def("use_instruction_set", &surewood::use_instruction_set, "name"_a,
             "Use 'baseline', 'avx2' or 'avx512' in all kernels; False where there is no such set. For tests.");
  module.def("random_words", &random_words, "seed"_a, "ids"_a.noconvert(), "count"_a,
             "The first `count` words of the stream keyed by (seed, ids).");
  register_row_words(module);
  register_bins(module);
  register_draw(module);
  register_growing(module);
  register_forest(module);
  register_boosting(module);
  register_inner_products(module);
  register_svm_solve(module);
  register_svm_predict(module);
}
