// A 64-bit word of the numbers of each row, equal where they agree in so many significant digits.
//
// tests/tables/reference_row_words.py holds the NumPy reference. Saved models hold these words: they never change.
#pragma once

#include <cstdint>

#include "common/number_view.hpp"

namespace surewood {

// Adds to out[i] the sum of mix64(word(x_ij) + key[j]) over the columns j, modulo 2^64. The word of a number is its
// mantissa, rounded to `digits` (1 to 15) decimal digits, times 1024, plus its decimal exponent plus 300, with the sign
// in the highest bit; 0 for zeros and what rounds to zero at 1e-300. Numbers that single precision holds are rounded to
// it first. Missing and infinite numbers have words of their own.
template <class Number>
void add_row_words(const NumberView<Number>& view, std::size_t n_columns, const std::uint64_t* key, int digits,
                   std::uint64_t* out);

}  // namespace surewood
