// Two-dimensional arrays of numbers of any type. Included by the files of this folder only.
#pragma once

#include "binding/arrays.hpp"
#include "common/number_view.hpp"

namespace surewood::binding {

// Calls work(view) with the two-dimensional array as what it is.
template <class Work>
void with_numbers(const AnyArray& array, Work work) {
  if (array.ndim() != 2) throw nb::type_error("numbers: expected 2 dimensions");
#define SUREWOOD_TRY(Number)                                                                                      \
  if (array.dtype() == nb::dtype<Number>())                                                                       \
    return work(NumberView<Number>{static_cast<const Number*>(array.data()), array.shape(0), array.stride(0), array.stride(1)});
  SUREWOOD_FOR_NUMBERS(SUREWOOD_TRY)
#undef SUREWOOD_TRY
  throw nb::type_error("numbers: expected an array of integers, float32 or float64");
}

}  // namespace surewood::binding
