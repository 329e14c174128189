#include "svm/row_evaluator.hpp"

namespace surewood {

RowEvaluator::RowEvaluator(const SvmTable& table, const KernelSpec& kernel) : table_(table) {
  kernels_.reserve(table.n_svms);
  for (int m = 0; m < table.n_svms; ++m) kernels_.emplace_back(kernel, table.degree[m], table.scale[m]);
}

std::int32_t RowEvaluator::code(int m, const float* products, float row_norm) {
  return code(m, products, table_.support + table_.support_at[m], row_norm);
}

std::int32_t RowEvaluator::code(int m, const float* products, const std::int32_t* at, float row_norm) {
  const int n = table_.n_support[m];
  inner_.assign(padded_to_lanes(n), 0.0f);
  svm_routines().gather_row(products, at, n, inner_.data());
  return vote(m, row_norm);
}

std::int32_t RowEvaluator::code_at(int m, const double* row, float row_norm) {
  const int n = table_.n_support[m];
  inner_.assign(padded_to_lanes(n), 0.0f);
  inner_products_at(row, table_.rows, table_.d, table_.support + table_.support_at[m], n, inner_.data());
  return vote(m, row_norm);
}

std::int32_t RowEvaluator::vote(int m, float row_norm) {
  const std::int32_t* classes = table_.classes + table_.class_at[m];
  const SvmView svm = table_.svm(m);
  if (svm.n_classes == 1) return classes[0];
  const int n = svm.n_support, padded = padded_to_lanes(n);
  values_.resize(padded);
  if (kernels_[m].is_rbf()) {
    support_norms_.assign(padded, 0.0f);
    svm_routines().gather_row(table_.norms, table_.support + table_.support_at[m], n, support_norms_.data());
  }
  kernels_[m].values(inner_.data(), support_norms_.data(), row_norm, padded, values_.data());
  decisions_ = votes_.decisions(svm, values_.data());
  return classes[votes_.winner(svm, decisions_)];
}

void RowEvaluator::add_vote_fractions(int m, double* share) const {
  const SvmView svm = table_.svm(m);
  const std::int32_t* classes = table_.classes + table_.class_at[m];
  if (svm.n_classes == 1) {
    share[classes[0]] += 1.0;
    return;
  }
  for (int a = 0; a < svm.n_classes; ++a) share[classes[a]] += static_cast<double>(votes_.votes()[a]) / svm.n_pairs();
}

}  // namespace surewood
