// How arrays cross the border: checked views of NumPy arrays and NumPy arrays that own a result.
//
// Included by the files of this folder only. Arrays are never converted silently: `require` turns a
// wrong dtype, order or shape into a TypeError that names the argument.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace surewood::binding {

namespace nb = nanobind;

template <typename T>
const char* dtype_name() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<T, std::int8_t>) return "int8";
  if constexpr (std::is_same_v<T, std::uint16_t>) return "uint16";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "uint32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "uint64";
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  return "?";
}

// Rows, columns and tasks are counted with 32 bits in the SVM engine.
constexpr std::int64_t kMostRows = 0x7FFFFFFF;

inline std::int64_t rows_that_fit(std::size_t count, const char* what) {
  if (count > static_cast<std::size_t>(kMostRows))
    throw nb::value_error(
        (std::string("at most 2147483647 of them fit into 32 bits: ") + what + ": " + std::to_string(count) + ".")
            .c_str());
  return static_cast<std::int64_t>(count);
}

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

enum class Order { C, F };

// A read-only pointer to the data of `array`, or a TypeError that names the argument.
// `extent < 0` accepts any length of that axis.
template <typename T>
const T* require(const AnyArray& array, const char* name, std::initializer_list<std::int64_t> shape,
                 Order order = Order::C) {
  auto fail = [&](const std::string& what) { throw nb::type_error((std::string(name) + ": " + what).c_str()); };
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
    if (array.size() > 0 && array.shape(dim) > 1 && array.stride(dim) != expected)
      fail(order == Order::C ? "expected a C-contiguous array" : "expected a Fortran-contiguous array");
    expected *= static_cast<std::int64_t>(array.shape(dim));
  }
  return static_cast<const T*>(array.data());
}

using WritableArray = nb::ndarray<nb::device::cpu>;

// The same for an array that the core fills.
template <typename T>
T* require_out(const WritableArray& array, const char* name, std::initializer_list<std::int64_t> shape) {
  require<T>(AnyArray(array), name, shape);
  return static_cast<T*>(array.data());
}

// A NumPy array that owns `values`.
template <typename T, typename Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T, Allocator>&& values) {
  using Values = std::vector<T, Allocator>;
  auto* owned = new Values(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

// The same for a vector of structures that are `Width` numbers of type T each.
template <typename T, std::size_t Width, typename Row>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy_rows(std::vector<Row>&& rows) {
  static_assert(sizeof(Row) == Width * sizeof(T));
  auto* owned = new std::vector<Row>(std::move(rows));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<2>>(reinterpret_cast<T*>(owned->data()), {owned->size(), Width}, owner);
}

}  // namespace surewood::binding
