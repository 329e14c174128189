// How arguments cross the border: checked views of NumPy arrays, NumPy arrays that own a result, words and numbers of
// options.
//
// Included by the files of this folder only. Arrays are never converted silently: `require` turns a wrong dtype, order
// or shape into a TypeError that names the argument.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/number_view.hpp"

namespace surewood::binding {

namespace nb = nanobind;
using namespace nb::literals;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using AnyOutput = nb::ndarray<nb::device::cpu>;

// An array that the core reads, or fills. T is the number that `require` asks for; void is any.
template <class T>
struct Array : AnyArray {};
template <class T>
struct Output : AnyOutput {};

// A result.
template <class T>
using OwnedArray = nb::ndarray<nb::numpy, T>;

// Rows, columns and tasks are counted with 32 bits in the SVM engine.
constexpr std::int64_t kMostRows = 0x7FFFFFFF;

inline std::int64_t rows_that_fit(std::size_t count, const char* what) {
  if (count > static_cast<std::size_t>(kMostRows))
    throw nb::value_error(
        (std::string("at most 2147483647 of them fit into 32 bits: ") + what + ": " + std::to_string(count) + ".")
            .c_str());
  return static_cast<std::int64_t>(count);
}

// A read-only pointer to the data of a C-contiguous array, or a TypeError that names the argument.
// `extent < 0` accepts any length of that axis.
template <typename T>
const T* require(const AnyArray& array, const char* name, std::initializer_list<std::int64_t> shape) {
  auto fail = [&](const std::string& what) { throw nb::type_error((std::string(name) + ": " + what).c_str()); };
  if (array.dtype() != nb::dtype<T>())
    fail(std::string("expected an array of ") + nb::detail::dtype_traits<T>::name.text);
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
  for (std::size_t dim = array.ndim(); dim-- > 0;) {
    if (array.size() > 0 && array.shape(dim) > 1 && array.stride(dim) != expected) fail("expected a C-contiguous array");
    expected *= static_cast<std::int64_t>(array.shape(dim));
  }
  return static_cast<const T*>(array.data());
}

template <typename T>
const T* require(const Array<T>& array, const char* name, std::initializer_list<std::int64_t> shape) {
  return require<T>(static_cast<const AnyArray&>(array), name, shape);
}

// The same for an array that may be left out: null.
template <typename T>
const T* require(const std::optional<Array<T>>& array, const char* name, std::initializer_list<std::int64_t> shape) {
  return array ? require(*array, name, shape) : nullptr;
}

// The same for an array that the core fills.
template <typename T>
T* require(const Output<T>& array, const char* name, std::initializer_list<std::int64_t> shape) {
  require<T>(AnyArray(array), name, shape);
  return static_cast<T*>(array.data());
}

template <typename T>
T* require(const std::optional<Output<T>>& array, const char* name, std::initializer_list<std::int64_t> shape) {
  return array ? require(*array, name, shape) : nullptr;
}

// Calls work(view) with a two-dimensional array of numbers as what it is.
template <class Work>
void with_numbers(const Array<void>& array, Work work) {
  if (array.ndim() != 2) throw nb::type_error("numbers: expected 2 dimensions");
#define SUREWOOD_TRY(Number)                                                                                      \
  if (array.dtype() == nb::dtype<Number>())                                                                       \
    return work(NumberView<Number>{static_cast<const Number*>(array.data()), array.shape(0), array.stride(0), array.stride(1)});
  SUREWOOD_FOR_NUMBERS(SUREWOOD_TRY)
#undef SUREWOOD_TRY
  throw nb::type_error("numbers: expected an array of integers, float32 or float64");
}

// A NumPy array that owns `values`.
template <typename T, typename Allocator>
OwnedArray<T> to_numpy(std::vector<T, Allocator>&& values) {
  using Values = std::vector<T, Allocator>;
  auto* owned = new Values(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
  return OwnedArray<T>(owned->data(), {owned->size()}, owner);
}

// The same for a vector of structures that are `Width` numbers of type T each.
template <typename T, std::size_t Width, typename Row>
OwnedArray<T> to_numpy_rows(std::vector<Row>&& rows) {
  static_assert(sizeof(Row) == Width * sizeof(T));
  auto* owned = new std::vector<Row>(std::move(rows));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
  return OwnedArray<T>(reinterpret_cast<T*>(owned->data()), {owned->size(), Width}, owner);
}

// The value that a word of an option stands for; an unknown word is refused.
template <class Value>
Value choice(const std::string& word, const char* name, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string accepted;
  for (const auto& [text, value] : known) {
    if (word == text) return value;
    accepted += std::string(accepted.empty() ? "'" : ", '") + text + "'";
  }
  throw nb::value_error((std::string(name) + " must be one of " + accepted + ", got '" + word + "'.").c_str());
}

// A number from `least` to `most`.
template <class Number>
Number within(Number value, const char* name, Number least, Number most) {
  if (value >= least && value <= most) return value;
  throw nb::value_error((std::string(name) + " must be from " + std::to_string(least) + " to " + std::to_string(most) +
                         ", got " + std::to_string(value) + ".")
                            .c_str());
}

// The sentence of a check, where there is one.
inline void refuse(const std::string& what, const std::string& flaw) {
  if (!flaw.empty()) throw nb::value_error((what + ": " + flaw + ".").c_str());
}

}  // namespace surewood::binding

namespace nanobind::detail {

// Nothing is converted, and the stub names the type of number.
template <class T>
struct array_name {
  static constexpr auto name = const_name("numpy.ndarray[dtype=") + dtype_traits<T>::name + const_name("]");
};
template <>
struct array_name<void> {
  static constexpr auto name = const_name("numpy.typing.NDArray[typing.Any]");
};

template <class T, class Typed, class Base>
struct array_caster {
  NB_TYPE_CASTER(Typed, array_name<T>::name)
  bool from_python(handle source, std::uint32_t, cleanup_list* cleanup) noexcept {
    make_caster<Base> base;
    const bool is_array = base.from_python(source, 0, cleanup);
    if (is_array) static_cast<Base&>(value) = base.value;
    return is_array;
  }
};

template <class T>
struct type_caster<surewood::binding::Array<T>>
    : array_caster<T, surewood::binding::Array<T>, surewood::binding::AnyArray> {};
template <class T>
struct type_caster<surewood::binding::Output<T>>
    : array_caster<T, surewood::binding::Output<T>, surewood::binding::AnyOutput> {};

}  // namespace nanobind::detail
