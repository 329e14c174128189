#include "svm_predict.hpp"

#include <algorithm>

namespace surewood {

namespace {

constexpr int kBlockRows = 32;  // rows a product: the block of products stays in the cache

// Evaluates machines of a table at one row, given its products with the shared support rows.
class RowEvaluator {
 public:
  RowEvaluator(const MachineTable& table, const KernelSpec& kernel, const float* norms, const PredictionTarget& out)
      : table_(table), norms_(norms), out_(out) {
    kernels_.reserve(table.n_machines);
    for (int m = 0; m < table.n_machines; ++m) kernels_.emplace_back(kernel, table.degree[m], table.scale[m]);
  }

  void evaluate(std::int64_t task, std::int64_t row, int m, const float* products, float own_norm) {
    const std::int32_t* classes = table_.classes + table_.class_at[m];
    MachineView machine = view(m);
    int winner = 0;
    if (machine.n_classes > 1) {
      kernel_values(m, products, own_norm);
      const double* decisions = votes_.decisions(machine, values_.data());
      winner = votes_.winner(machine, decisions);
      if (out_.decisions) std::copy_n(decisions, machine.n_pairs(), out_.decisions + task * out_.decision_width);
    }
    if (out_.codes) out_.codes[task] = classes[winner];
    if (out_.vote_share) add_votes(machine, classes, out_.vote_share + row * out_.total_classes);
  }

 private:
  MachineView view(int m) const {
    return {table_.n_classes[m], table_.n_support[m], table_.class_support + table_.class_at[m],
            table_.coef + table_.coef_at[m], table_.bias + table_.pair_at[m]};
  }

  void kernel_values(int m, const float* products, float own_norm) {
    const int n = table_.n_support[m], padded = padded_to_lanes(n);
    const std::int32_t* support = table_.support + table_.support_at[m];
    inner_.assign(padded, 0.0f);
    values_.resize(padded);
    svm_routines().gather_row(products, support, n, inner_.data());
    if (kernels_[m].is_rbf()) {
      machine_norms_.assign(padded, 0.0f);
      svm_routines().gather_row(norms_, support, n, machine_norms_.data());
    }
    kernels_[m].values(inner_.data(), machine_norms_.data(), own_norm, padded, values_.data());
  }

  void add_votes(const MachineView& machine, const std::int32_t* classes, double* share) {
    if (machine.n_classes == 1) {
      share[classes[0]] += 1.0;
      return;
    }
    for (int a = 0; a < machine.n_classes; ++a)
      share[classes[a]] += static_cast<double>(votes_.votes()[a]) / machine.n_pairs();
  }

  const MachineTable& table_;
  const float* norms_;
  const PredictionTarget& out_;
  std::vector<Kernel> kernels_;
  MachineVotes votes_;
  std::vector<float> inner_, values_, machine_norms_;
};

}  // namespace

bool predict_rows(const double* x, std::int64_t rows, int d, const PackedRows& support_rows,
                  const float* support_norms, const KernelSpec& kernel, const MachineTable& table,
                  const std::int32_t* assign, int tasks, StopSignal& stop, const PredictionTarget& out) {
  const std::int64_t stride = support_rows.size();
  std::vector<float> products(static_cast<std::size_t>(kBlockRows) * stride), own(kBlockRows);
  RowEvaluator evaluator(table, kernel, support_norms, out);
  for (std::int64_t start = 0; start < rows; start += kBlockRows) {
    if (stop.requested()) return false;
    const int count = static_cast<int>(std::min<std::int64_t>(kBlockRows, rows - start));
    inner_products(x + start * d, count, d, support_rows, products.data(), stride);
    squared_norms(x + start * d, count, d, own.data());
    for (int r = 0; r < count; ++r)
      for (int t = 0; t < tasks; ++t) {
        const std::int64_t task = (start + r) * tasks + t;
        if (assign[task] >= 0)
          evaluator.evaluate(task, start + r, assign[task], products.data() + r * stride, own[r]);
        else if (out.codes)
          out.codes[task] = -1;
      }
  }
  return true;
}

}  // namespace surewood
