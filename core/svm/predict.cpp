#include "svm/predict.hpp"

#include <algorithm>

#include "svm/block_predict.hpp"
#include "svm/row_evaluator.hpp"

namespace surewood {

namespace {

constexpr int kBlockRows = 32;  // rows a product: the block of products stays in the cache

// One product of every row with all support rows, then machine by machine as the tasks ask.
bool predict_by_product(const double* x, std::int64_t rows, const KernelSpec& kernel, const MachineTable& table,
                        const std::int32_t* assign, int tasks, StopSignal& stop, const PredictionTarget& out) {
  const std::int64_t stride = table.n_rows;
  const int d = table.d;
  PackedRows packed;
  packed.pack(table.rows, d, nullptr, table.n_rows);
  std::vector<float> products(static_cast<std::size_t>(kBlockRows) * stride), own(kBlockRows);
  RowEvaluator evaluator(table, kernel);
  // Several tasks of a row may share a machine: its code at the latest row it saw.
  std::vector<std::int64_t> seen(out.codes && !out.vote_share && !out.decisions ? table.n_machines : 0, -1);
  std::vector<std::int32_t> code_seen(seen.size());
  for (std::int64_t start = 0; start < rows; start += kBlockRows) {
    if (stop.requested()) return false;
    const int count = static_cast<int>(std::min<std::int64_t>(kBlockRows, rows - start));
    inner_products(x + start * d, count, d, packed, products.data(), stride);
    squared_norms(x + start * d, count, d, own.data());
    for (std::int64_t task = start * tasks; task < (start + count) * tasks; ++task) {
      const std::int64_t row = task / tasks;
      const int m = assign[task];
      std::int32_t code = m < 0 ? code_without_machine(m) : -1;
      if (m >= 0 && !seen.empty() && seen[m] == row) {
        code = code_seen[m];
      } else if (m >= 0) {
        code = evaluator.code(m, products.data() + (row - start) * stride, own[row - start]);
        const MachineView machine = table.machine(m);
        if (out.vote_share) evaluator.add_vote_share(m, out.vote_share + row * out.total_classes);
        if (out.decisions && machine.n_classes > 1)
          std::copy_n(evaluator.decisions(), machine.n_pairs(), out.decisions + task * out.decision_width);
        if (!seen.empty()) seen[m] = row, code_seen[m] = code;
      }
      if (out.codes) out.codes[task] = code;
    }
  }
  return true;
}

}  // namespace

bool predict_rows(const double* x, std::int64_t rows, const KernelSpec& kernel, const MachineTable& table,
                  const std::int32_t* assign, int tasks, StopSignal& stop, const PredictionTarget& out) {
  const bool only_codes = out.codes && !out.vote_share && !out.decisions;
  if (!only_codes || kernel.kind != KernelKind::poly || !blocks_are_quicker(rows, table, assign, tasks))
    return predict_by_product(x, rows, kernel, table, assign, tasks, stop, out);
  return predict_by_machine(x, rows, kernel, table, assign, tasks, stop, out.codes);
}

}  // namespace surewood
