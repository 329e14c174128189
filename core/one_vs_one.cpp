#include "one_vs_one.hpp"

#include <algorithm>
#include <numeric>

namespace surewood {

namespace {

// Larger problems are bound by throughput, not by latency, and their kernels would crowd the cache.
constexpr std::size_t kInterleavedPoints = 256;
constexpr int kInterleaved = 3;  // problems side by side; measured, see docs/svm-engine.md
constexpr int kGatheredPoints = 512;  // a megabyte of products
bool is_small(std::size_t points) { return points <= kSmallPoints; }
constexpr int kPrepared = 12;    // problems made ready at once, so that three are at work until the last

}  // namespace

OneVsOneSolver::OneVsOneSolver(const InnerSource& source, const KernelSpec& kernel, const SolveOptions& options,
                               StopSignal& stop)
    : source_(source), kernel_(kernel), options_(options), stop_(stop), inner_rows_(source) {
  for (int p = 0; p < kPrepared; ++p) {
    rows_.push_back(std::make_unique<KernelRows>(inner_rows_, options.cache_bytes));
    duals_.push_back(std::make_unique<DualSolver>(stop));
  }
}

void OneVsOneSolver::sort_by_class(const std::int32_t* group, int m, const std::int32_t* label) {
  m_ = m;
  place_.resize(m);
  std::iota(place_.begin(), place_.end(), 0);
  std::stable_sort(place_.begin(), place_.end(),
                   [&](std::int32_t i, std::int32_t j) { return label[group[i]] < label[group[j]]; });
  sorted_.resize(m);
  class_of_.resize(m);
  classes_.clear();
  class_start_.clear();
  for (int s = 0; s < m; ++s) {
    sorted_[s] = group[place_[s]];
    const std::int32_t own = label[sorted_[s]];
    if (classes_.empty() || classes_.back() != own) {
      classes_.push_back(own);
      class_start_.push_back(s);
    }
    class_of_[s] = static_cast<std::int32_t>(classes_.size()) - 1;
  }
  class_start_.push_back(m);
  n_classes_ = static_cast<int>(classes_.size());
  n_pairs_ = n_classes_ * (n_classes_ - 1) / 2;
}

bool OneVsOneSolver::solve(const std::int32_t* group, int m, const std::int32_t* label, const double* weight,
                           const std::int32_t* degree, const double* C, int count, MachineBatch& out) {
  sort_by_class(group, m, label);
  problems_.clear();
  for (int q = 0; q < count; ++q) {
    const double scale = kernel_scale(kernel_, degree[q], source_.norms, sorted_.data(), m);
    problems_.push_back({Kernel(kernel_, degree[q], scale), C[q], degree[q]});
  }
  const std::size_t points = static_cast<std::size_t>(count) * m;
  coef_.assign(points * (n_classes_ - 1), 0.0);
  wins_.assign(points, 0);
  decision_.assign(options_.decisions ? points : 0, 0.0);
  outcomes_.assign(static_cast<std::size_t>(count) * n_pairs_, {});
  gather_products();
  for (int a = 0; a < n_classes_; ++a)
    for (int b = a + 1; b < n_classes_; ++b)
      if (!solve_pair(a, b, weight)) return false;
  for (int q = 0; q < count; ++q) assemble(q, out);
  return true;
}

// Where all pairs are small and the matrix is stored, the group's products are gathered once: its rows lie far apart
// in memory. The matrix is symmetric to the bit, so half of it is read.
void OneVsOneSolver::gather_products() {
  products_.clear();
  int largest = 0, second = 0;
  for (int a = 0; a < n_classes_; ++a) {
    const int size = class_start_[a + 1] - class_start_[a];
    second = std::max(second, std::min(largest, size));
    largest = std::max(largest, size);
  }
  if (!source_.gram || options_.warm || !is_small(largest + second) || m_ > kGatheredPoints) return;
  products_.resize(static_cast<std::size_t>(m_) * m_);
  for (int i = 0; i < m_; ++i) {
    const float* row = source_.gram + sorted_[i] * source_.n;
    float *own = products_.data() + static_cast<std::size_t>(i) * m_, *column = products_.data() + i;
    for (int k = i; k < m_; ++k) own[k] = column[static_cast<std::size_t>(k) * m_] = row[sorted_[k]];
  }
}

void OneVsOneSolver::set_pair(int a, int b) {
  const auto first = sorted_.begin();
  pair_rows_.assign(first + class_start_[a], first + class_start_[a + 1]);
  sign_.assign(pair_rows_.size(), 1);
  pair_rows_.insert(pair_rows_.end(), first + class_start_[b], first + class_start_[b + 1]);
  sign_.resize(pair_rows_.size(), -1);
  box_.resize(pair_rows_.size());
  if (!products_.empty()) {
    inner_rows_.take(products_.data(), m_, sorted_.data(), class_start_[a], class_start_[a + 1] - class_start_[a],
                     class_start_[b], class_start_[b + 1] - class_start_[b]);
    return;
  }
  const bool degrees_differ = problems_.front().degree != problems_.back().degree;
  inner_rows_.set_points(pair_rows_.data(), static_cast<int>(pair_rows_.size()),
                         degrees_differ || is_small(pair_rows_.size()));
}

// The box in units of the scaled kernel (see Kernel).
void OneVsOneSolver::set_box(const Problem& problem, const double* weight) {
  const double C = problem.C * problem.kernel.factor();
  for (std::size_t i = 0; i < box_.size(); ++i) box_[i] = weight ? C * weight[pair_rows_[i]] : C;
}

// Starts problems first, ..., first + count - 1 of the pair in hand, with one kernel a run of equal degrees, and
// runs them. `in_turn`: problems come one by one, and the kernel rows of the one before are still there.
bool OneVsOneSolver::run_problems(int first, int count, bool in_turn, const double* weight) {
  running_.clear();
  int kernel = -1;
  for (int p = 0; p < count; ++p) {
    const Problem& problem = problems_[first + p];
    const bool same_kernel = first + p > 0 && problems_[first + p - 1].degree == problem.degree;
    if (!same_kernel || (p == 0 && !in_turn)) {
      if (!in_turn && is_small(pair_rows_.size()))
        rows_[++kernel]->build_all(problem.kernel);
      else
        rows_[++kernel]->reset(problem.kernel);
    } else
      kernel = std::max(kernel, 0);
    set_box(problem, weight);
    const bool warm = options_.warm && in_turn && same_kernel && problem.C >= problems_[first - 1].C;
    duals_[p]->start(*rows_[kernel], sign_.data(), box_.data(), options_.tol, options_.max_iter, warm);
    running_.push_back(duals_[p].get());
  }
  DualSolver::run(running_, kInterleaved);
  return !stop_.requested();
}

bool OneVsOneSolver::solve_pair(int a, int b, const double* weight) {
  set_pair(a, b);
  const int total = static_cast<int>(problems_.size());
  const std::size_t n = pair_rows_.size();
  // Problems at work together may share kernel rows: none must be thrown out under another's hands.
  const bool all_rows_fit = n * padded_to_lanes(static_cast<int>(n)) * sizeof(float) <= options_.cache_bytes;
  const bool side_by_side = !options_.warm && n <= kInterleavedPoints && all_rows_fit;
  const int at_once = side_by_side ? kPrepared : 1;
  for (int first = 0; first < total; first += at_once) {
    const int count = std::min(at_once, total - first);
    if (!run_problems(first, count, !side_by_side, weight)) return false;
    for (int p = 0; p < count; ++p) record_pair(first + p, a, b, *duals_[p]);
  }
  return true;
}

void OneVsOneSolver::record_pair(int q, int a, int b, DualSolver& solver) {
  const int width = n_classes_ - 1, na = class_start_[a + 1] - class_start_[a];
  const int pair = a * (2 * n_classes_ - a - 1) / 2 + (b - a - 1);
  const std::size_t base = static_cast<std::size_t>(q) * m_;
  DualOutcome& outcome = outcomes_[static_cast<std::size_t>(q) * n_pairs_ + pair];
  outcome = solver.outcome(sign_.data());
  outcome.objective /= problems_[q].kernel.factor();
  const double* beta = solver.beta();
  const auto record = [&](int from, int to, std::size_t s, int column, bool first) {
    for (int i = from; i < to; ++i, ++s) {
      coef_[s * width + column] = beta[i];
      const double decision = solver.fitted(i, sign_[i]) + outcome.bias;
      wins_[s] += (decision > 0.0) == first;
      if (options_.decisions && n_classes_ == 2) decision_[s] = decision;
    }
  };
  record(0, na, base + class_start_[a], b - 1, true);
  record(na, static_cast<int>(pair_rows_.size()), base + class_start_[b], a, false);
}

void OneVsOneSolver::assemble(int q, MachineBatch& out) {
  const int width = n_classes_ - 1;
  const double* coef = coef_.data() + static_cast<std::size_t>(q) * m_ * width;
  const std::size_t first_support = out.support.size();
  for (int a = 0; a < n_classes_; ++a) {
    const std::size_t before = out.support.size();
    for (int s = class_start_[a]; s < class_start_[a + 1]; ++s) {
      const double* own = coef + static_cast<std::size_t>(s) * width;
      if (std::all_of(own, own + width, [](double c) { return c == 0.0; })) continue;
      out.support.push_back(sorted_[s]);
      out.coef.insert(out.coef.end(), own, own + width);
    }
    out.classes.push_back(classes_[a]);
    out.class_support.push_back(static_cast<std::int32_t>(out.support.size() - before));
  }
  for (int pair = 0; pair < n_pairs_; ++pair) {
    const DualOutcome& outcome = outcomes_[static_cast<std::size_t>(q) * n_pairs_ + pair];
    out.bias.push_back(outcome.bias);
    out.objective.push_back(outcome.objective);
    out.gap.push_back(outcome.gap);
    out.iterations.push_back(outcome.iterations);
    out.status.push_back(static_cast<std::int32_t>(outcome.status));
  }
  out.n_classes.push_back(n_classes_);
  out.n_support.push_back(static_cast<std::int32_t>(out.support.size() - first_support));
  out.scale.push_back(problems_[q].kernel.scale());
  count_votes(q, out.support.data() + first_support, out);
}

// A point that wins all pairs of its own class is certainly right: no other class can have as many
// votes. Only the others are put to all machines.
void OneVsOneSolver::count_votes(int q, const std::int32_t* support, MachineBatch& out) {
  const int width = n_classes_ - 1, n_support = out.n_support.back();
  MachineView machine;
  machine.n_classes = n_classes_;
  machine.n_support = n_support;
  machine.class_support = out.class_support.data() + out.class_support.size() - n_classes_;
  machine.coef = out.coef.data() + out.coef.size() - static_cast<std::size_t>(n_support) * width;
  machine.bias = out.bias.data() + out.bias.size() - n_pairs_;
  const int padded = padded_to_lanes(n_support);
  inner_.assign(padded, 0.0f);
  values_.resize(padded);
  norms_.assign(padded, 0.0f);
  for (int k = 0; k < n_support; ++k) norms_[k] = source_.norms[support[k]];

  const std::size_t first = out.predicted.size();
  out.predicted.resize(first + m_);
  if (options_.decisions) out.decision.resize(first + m_);
  int correct = 0;
  for (int s = 0; s < m_; ++s) {
    const std::size_t at = static_cast<std::size_t>(q) * m_ + s;
    int winner = class_of_[s];
    if (wins_[at] < width && n_classes_ == 2) {
      winner = 1 - winner;
    } else if (wins_[at] < width) {
      source_.products(sorted_[s], support, n_support, inner_.data());
      problems_[q].kernel.values(inner_.data(), norms_.data(), source_.norms[sorted_[s]], padded, values_.data());
      winner = votes_.winner(machine, votes_.decisions(machine, values_.data()));
    }
    correct += winner == class_of_[s];
    out.predicted[first + place_[s]] = classes_[winner];
    if (options_.decisions) out.decision[first + place_[s]] = decision_[at];
  }
  out.n_correct.push_back(correct);
}

}  // namespace surewood
