// Whether the arrays of trained SVMs can be read safely: predictions trust every number of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "svm/predict.hpp"

namespace surewood {

// Lengths of the flat arrays of an SvmTable.
struct SvmSizes {
  std::int64_t classes, class_support, bias, support, coef;
};

// Where the entries of each SVM begin, and the ends.
struct SvmOffsets {
  std::vector<std::int64_t> class_at, pair_at, support_at, coef_at;
};

// Fills `offsets` from the counts of `table` (whose own offsets are not read) and says what is wrong with the table, as
// a sentence without its full stop; empty: nothing. Counts sum to the lengths of the arrays, support rows and class
// codes are in range, degrees are bounded. One pass over all integers.
std::string flaw_of_table(const SvmTable& table, const SvmSizes& sizes, SvmOffsets& offsets);

// The same for the SVM that each task names: at most the last one.
std::string flaw_of_tasks(const SvmTable& table, const std::int32_t* assign, std::int64_t count,
                          const PredictionTarget& out);

}  // namespace surewood
