#include "svm/table_check.hpp"

#include <algorithm>
#include <cmath>

namespace surewood {

namespace {

constexpr std::int64_t kMaxClasses = 46340;  // beyond, pairs are not counted by 32 bits

std::string flaw_of_classes(const SvmTable& table, std::int64_t m, const SvmOffsets& offsets) {
  std::int64_t support = 0;
  std::int32_t before = -1;
  for (std::int64_t k = offsets.class_at[m]; k < offsets.class_at[m + 1]; ++k) {
    if (table.classes[k] <= before) return "class codes of an SVM must ascend from 0 or more";
    if (table.class_support[k] < 0) return "class_support must not be negative";
    before = table.classes[k];
    support += table.class_support[k];
  }
  if (support != table.n_support[m]) return "class_support must sum to n_support in every SVM";
  return "";
}

}  // namespace

std::string flaw_of_table(const SvmTable& table, const SvmSizes& sizes, SvmOffsets& offsets) {
  for (auto* at : {&offsets.class_at, &offsets.pair_at, &offsets.support_at, &offsets.coef_at}) {
    at->clear();
    at->reserve(static_cast<std::size_t>(table.n_svms) + 1);
    at->push_back(0);
  }
  for (int m = 0; m < table.n_svms; ++m) {
    const std::int64_t classes = table.n_classes[m], support = table.n_support[m];
    if (classes < 1 || classes > kMaxClasses) return "n_classes must be from 1 to 46340";
    if (support < 0) return "n_support must not be negative";
    if (table.degree[m] < 0 || table.degree[m] > kMaxDegree)
      return "degree must be from 0 to " + std::to_string(kMaxDegree);
    if (!(table.scale[m] > 0.0 && std::isfinite(table.scale[m]))) return "scale must be positive and finite";
    offsets.class_at.push_back(offsets.class_at.back() + classes);
    offsets.pair_at.push_back(offsets.pair_at.back() + classes * (classes - 1) / 2);
    offsets.support_at.push_back(offsets.support_at.back() + support);
    offsets.coef_at.push_back(offsets.coef_at.back() + support * (classes - 1));
  }
  if (offsets.class_at.back() != sizes.classes || sizes.class_support != sizes.classes)
    return "classes and class_support must have one entry per class of every SVM";
  if (offsets.pair_at.back() != sizes.bias) return "bias must have one entry per pair of classes of every SVM";
  if (offsets.support_at.back() != sizes.support) return "support must have n_support entries per SVM";
  if (offsets.coef_at.back() != sizes.coef) return "coef must have n_support x (n_classes - 1) entries per SVM";
  for (int m = 0; m < table.n_svms; ++m) {
    std::string flaw = flaw_of_classes(table, m, offsets);
    if (!flaw.empty()) return flaw;
  }
  std::uint32_t largest = 0;  // a negative number is a large one
  for (std::int64_t k = 0; k < sizes.support; ++k)
    largest = std::max(largest, static_cast<std::uint32_t>(table.support[k]));
  if (sizes.support && largest >= static_cast<std::uint32_t>(table.n_rows))
    return "support names a row outside support_rows";
  return "";
}

std::string flaw_of_tasks(const SvmTable& table, const std::int32_t* assign, std::int64_t count,
                          const PredictionTarget& out) {
  std::int32_t last = -1;
  for (std::int64_t k = 0; k < count; ++k) last = std::max(last, assign[k]);
  if (last >= table.n_svms) return "assign names SVM " + std::to_string(last) + " of " + std::to_string(table.n_svms);
  const std::int32_t* classes_end = table.classes + table.class_at[table.n_svms];
  if (out.vote_fractions && table.n_svms && *std::max_element(table.classes, classes_end) >= out.total_classes)
    return "vote_fractions has no column for a class of the SVMs";
  if (!out.decisions) return "";
  for (std::int64_t k = 0; k < count; ++k)
    if (assign[k] >= 0 && table.svm(assign[k]).n_pairs() > out.decision_width)
      return "decisions has no room for the pairs of an SVM";
  return "";
}

}  // namespace surewood
