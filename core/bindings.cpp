// Registers the core with Python. The only file that includes nanobind, and it only registers:
// checks of single arguments and array views, then one call into the core.
//
// Arrays are never converted silently. Every array argument is declared `.noconvert()`; the helper
// `require` turns a wrong dtype, order or shape into a TypeError that names the argument.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <string>

#include "cpu.hpp"
#include "one_vs_one.hpp"
#include "rng.hpp"
#include "svm_predict.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T>
const char* dtype_name() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<T, std::uint16_t>) return "uint16";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "uint32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "uint64";
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  return "?";
}

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

enum class Order { C, F };

// A read-only pointer to the data of `array`, or a TypeError that names the argument.
// `extent < 0` accepts any length of that axis.
template <typename T>
const T* require(const AnyArray& array, const char* name, std::initializer_list<std::int64_t> shape,
                 Order order = Order::C) {
  auto fail = [&](const std::string& what) {
    throw nb::type_error((std::string(name) + ": " + what).c_str());
  };
  if (array.dtype() != nb::dtype<T>()) fail(std::string("expected an array of ") + dtype_name<T>());
  if (array.ndim() != shape.size())
    fail("expected " + std::to_string(shape.size()) + " dimension(s), got " + std::to_string(array.ndim()));
  std::size_t axis = 0;
  for (std::int64_t extent : shape) {
    if (extent >= 0 && static_cast<std::int64_t>(array.shape(axis)) != extent)
      fail("axis " + std::to_string(axis) + " must have length " + std::to_string(extent) + ", got " +
           std::to_string(array.shape(axis)));
    ++axis;
  }
  std::int64_t expected = 1;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    std::size_t dim = order == Order::C ? array.ndim() - 1 - i : i;
    if (array.shape(dim) > 1 && array.stride(dim) != expected)
      fail(order == Order::C ? "expected a C-contiguous array" : "expected a Fortran-contiguous array");
    expected *= static_cast<std::int64_t>(array.shape(dim));
  }
  return static_cast<const T*>(array.data());
}

// A NumPy array that owns `values`.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

auto random_words(std::uint64_t seed, const AnyArray& ids, std::size_t count) {
  const auto* id = require<std::uint64_t>(ids, "ids", {-1});
  std::uint64_t key = surewood::stream_key(seed, {});
  for (std::size_t i = 0; i < ids.shape(0); ++i) key = surewood::child_key(key, id[i]);
  surewood::Stream stream(key);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = stream.next();
  return to_numpy(std::move(words));
}

#include "svm_bindings.inl"

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of surewood. Import it from surewood.trees or surewood.svm only.";
  module.def("instruction_set", &surewood::instruction_set,
             "The best instruction set of this machine: 'avx512', 'avx2' or 'baseline'.");
  module.def("random_words", &random_words, "seed"_a, "ids"_a.noconvert(), "count"_a,
             "The first `count` words of the stream keyed by (seed, ids).");
  register_svm(module);
}
