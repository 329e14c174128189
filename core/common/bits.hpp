// The bits of a number, and the number of some bits.
#pragma once

#include <cstring>

#include "common/cpu.hpp"

namespace surewood {

template <class To, class From>
SUREWOOD_INLINE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "both have the same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace surewood
