#include "svm/predict.hpp"

#include <algorithm>

#include "svm/block_predict.hpp"
#include "svm/row_evaluator.hpp"

namespace surewood {

namespace {

constexpr int kBlockRows = 32;  // rows a product: the block of products stays in the cache

// One product of every row with all support rows, then SVM by SVM as the tasks ask.
bool predict_by_product(const double* x, std::int64_t rows, const KernelSpec& kernel, const SvmTable& table,
                        const std::int32_t* assign, int tasks, StopSignal& stop, const PredictionTarget& out) {
  const std::int64_t stride = table.n_rows;
  const int d = table.d;
  PackedRows packed;
  packed.pack(table.rows, d, nullptr, table.n_rows);
  std::vector<float> products(static_cast<std::size_t>(kBlockRows) * stride), row_norms(kBlockRows);
  RowEvaluator evaluator(table, kernel);
  // Several tasks of a row may share an SVM: its code at the latest row it saw.
  std::vector<std::int64_t> seen(out.codes && !out.vote_fractions && !out.decisions ? table.n_svms : 0, -1);
  std::vector<std::int32_t> code_seen(seen.size());
  for (std::int64_t start = 0; start < rows; start += kBlockRows) {
    if (stop.requested()) return false;
    const int count = static_cast<int>(std::min<std::int64_t>(kBlockRows, rows - start));
    inner_products(x + start * d, count, d, packed, products.data(), stride);
    squared_norms(x + start * d, count, d, row_norms.data());
    for (std::int64_t task = start * tasks; task < (start + count) * tasks; ++task) {
      const std::int64_t row = task / tasks;
      const int m = assign[task];
      std::int32_t code = m < 0 ? code_without_svm(m) : -1;
      if (m >= 0 && !seen.empty() && seen[m] == row) {
        code = code_seen[m];
      } else if (m >= 0) {
        code = evaluator.code(m, products.data() + (row - start) * stride, row_norms[row - start]);
        const SvmView svm = table.svm(m);
        if (out.vote_fractions) evaluator.add_vote_fractions(m, out.vote_fractions + row * out.total_classes);
        if (out.decisions && svm.n_classes > 1)
          std::copy_n(evaluator.decisions(), svm.n_pairs(), out.decisions + task * out.decision_width);
        if (!seen.empty()) seen[m] = row, code_seen[m] = code;
      }
      if (out.codes) out.codes[task] = code;
    }
  }
  return true;
}

}  // namespace

bool count_codes(const std::int32_t* codes, std::size_t rows, std::size_t tasks, std::size_t classes, double* counts) {
  for (std::size_t r = 0; r < rows; ++r, counts += classes)
    for (std::size_t t = 0; t < tasks; ++t, ++codes) {
      if (*codes >= static_cast<std::int64_t>(classes)) return false;
      if (*codes >= 0) counts[*codes] += 1.0;
    }
  return true;
}

bool predict_rows(const double* x, std::int64_t rows, const KernelSpec& kernel, const SvmTable& table,
                  const StoredProducts& stored, const std::int32_t* assign, int tasks, StopSignal& stop,
                  const PredictionTarget& out) {
  const bool only_codes = out.codes && !out.vote_fractions && !out.decisions;
  const bool in_blocks = only_codes && kernel.kind == KernelKind::poly &&
                         (stored.matrix || blocks_are_quicker(rows, table, assign, tasks));
  if (!in_blocks) return predict_by_product(x, rows, kernel, table, assign, tasks, stop, out);
  return predict_by_svm(x, rows, kernel, table, stored, assign, tasks, stop, out.codes);
}

}  // namespace surewood
