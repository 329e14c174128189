#include "svm/one_vs_one.hpp"

#include <algorithm>
#include <numeric>

namespace surewood {

namespace {

// Problems of up to so many points are worked on side by side. Larger ones would gain too, but need a kernel each.
constexpr int kInterleavedPoints = 256;
constexpr int kInterleaved = 3;            // measured, see docs/svm-engine.md
constexpr double kHeldCoefficients = 8e6;  // while the SVMs of a group are assembled
constexpr double kWorkAtOnce = 2e9;        // rough element updates before progress is reported: some tenths of a second

}  // namespace

OneVsOneSolver::OneVsOneSolver(const InnerSource& source, const KernelSpec& kernel, const SolveOptions& options,
                               StopSignal& stop)
    : source_(source), kernel_(kernel), options_(options), stop_(stop), products_(source), inner_rows_(source) {
  for (int d = 0; d < kMostInterleaved; ++d) solvers_.push_back(std::make_unique<PairSolver>(inner_rows_, options.cache_bytes));
}

void OneVsOneSolver::expect(int m) {
  largest_group_ = m;
  products_.expect(m);
  inner_rows_.expect(m);
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
    const std::int32_t code = label[sorted_[s]];
    if (classes_.empty() || classes_.back() != code) {
      classes_.push_back(code);
      class_start_.push_back(s);
    }
    class_of_[s] = static_cast<std::int32_t>(classes_.size()) - 1;
  }
  class_start_.push_back(m);
  n_classes_ = static_cast<int>(classes_.size());
  n_pairs_ = n_classes_ * (n_classes_ - 1) / 2;
}

void OneVsOneSolver::list_pairs() {
  pairs_.clear();
  for (int a = 0; a < n_classes_; ++a)
    for (int b = a + 1; b < n_classes_; ++b)
      pairs_.push_back({a, b, class_start_[a + 1] - class_start_[a] + class_start_[b + 1] - class_start_[b]});
  std::stable_sort(pairs_.begin(), pairs_.end(), [](const Pair& p, const Pair& q) { return p.padded() < q.padded(); });
}

bool OneVsOneSolver::whole_kernel_fits(int points) const {
  return sizeof(float) * points * padded_to_lanes(points) <= options_.cache_bytes;
}

// Whether problems of that many points get their whole kernel at once.
bool OneVsOneSolver::is_small(int points) const {
  return points <= svm_routines().small_points && whole_kernel_fits(points);
}

bool OneVsOneSolver::solve(const std::int32_t* group, int m, const std::int32_t* label, const double* weight,
                           const std::int32_t* degree, const double* C, int count, SvmBatch& out) {
  sort_by_class(group, m, label);
  weight_ = weight;
  list_pairs();
  share_products();
  // As many SVMs at once as coefficients may be held and as are soon done; never a part of those of one degree.
  const double points = m, work = points * (4.0 * points + 2000.0);
  const double most = std::min(kHeldCoefficients / (points * std::max(n_classes_ - 1, 1)), kWorkAtOnce / work);
  for (int first = 0, last; first < count; first = last) {
    last = first + 1;
    for (int next = last; next <= count && next - first <= most; ++next)
      if (next == count || degree[next] != degree[next - 1]) last = next;
    while (last < count && degree[last] == degree[last - 1]) ++last;
    if (!solve_some(degree + first, C + first, last - first, out)) return false;
    stop_.done(last - first);
  }
  return true;
}

bool OneVsOneSolver::solve_some(const std::int32_t* degree, const double* C, int count, SvmBatch& out) {
  problems_.clear();
  const double largest = largest_base(kernel_, source_.norms, sorted_.data(), m_);
  for (int q = 0; q < count; ++q)
    problems_.push_back(
        {Kernel(kernel_, degree[q], kernel_scale(kernel_, degree[q], largest), largest), C[q], degree[q]});
  const std::size_t points = static_cast<std::size_t>(count) * m_;
  coef_.resize(points * (n_classes_ - 1));  // every one is set: a point has a coefficient for each other class
  wins_.assign(points, 0);
  decision_.assign(options_.decisions ? points : 0, 0.0);
  outcomes_.resize(static_cast<std::size_t>(count) * n_pairs_);
  for (std::size_t first = 0, last; first < pairs_.size(); first = last) {
    last = first + 1;
    // Small problems of one size are worked on together, whatever their pair.
    if (is_small(pairs_[first].points))
      while (last < pairs_.size() && pairs_[last].padded() == pairs_[first].padded() && is_small(pairs_[last].points))
        ++last;
    if (!run_pairs(first, last)) return false;
  }
  for (int q = 0; q < count; ++q) assemble(q, out);
  return true;
}

// Products of the whole group, where several pairs read them or all are read.
void OneVsOneSolver::share_products() {
  const bool all_small = n_pairs_ > 0 && is_small(pairs_.back().points);
  shared_products_ = (n_classes_ > 2 || all_small) && m_ <= GroupProducts::kMostPoints;
  if (shared_products_) products_.set_points(sorted_.data(), m_);
  if (shared_products_ && all_small) products_.make_all();
}

bool OneVsOneSolver::run_pairs(std::size_t first, std::size_t last) {
  pair_ = first;
  last_pair_ = last;
  next_problem_ = solvers_used_ = 0;
  set_pair(pairs_[first]);
  const int points = pairs_[first].points;
  const bool side_by_side = !options_.warm && points <= kInterleavedPoints && whole_kernel_fits(points);
  const int together = side_by_side ? kInterleaved : 1;
  share_kernel_room(pairs_[first], is_small(points) ? kMostInterleaved : together);
  svm_routines().run_duals(*this, together);
  return !stop_.requested();
}

// Room for the kernel rows of so many problems of one size.
void OneVsOneSolver::share_kernel_room(const Pair& pair, int n_solvers) {
  const std::size_t each = KernelRows::room_for(pair.points, options_.cache_bytes);
  const auto room = [&](int points) {
    return KernelRows::room_for(std::min(points, largest_group_), options_.cache_bytes);
  };
  const std::size_t expected =
      std::max({kMostInterleaved * room(kSmallPoints), kInterleaved * room(kInterleavedPoints), room(largest_group_)});
  make_room(kernel_values_, each * n_solvers, expected);
  for (int d = 0; d < n_solvers; ++d) solvers_[d]->rows.use_room(kernel_values_.data() + d * each);
}

void OneVsOneSolver::set_pair(const Pair& pair) {
  const auto first = sorted_.begin();
  const int a = class_start_[pair.a], b = class_start_[pair.b];
  const int na = class_start_[pair.a + 1] - a, nb = class_start_[pair.b + 1] - b;
  pair_rows_.assign(first + a, first + a + na);
  pair_rows_.insert(pair_rows_.end(), first + b, first + b + nb);
  sign_.assign(na, 1.0);
  sign_.resize(na + nb, -1.0);
  box_.resize(na + nb);
  const bool read_again = problems_.front().degree != problems_.back().degree || is_small(na + nb);
  if (shared_products_)
    inner_rows_.set_pair(products_, sorted_.data(), a, na, b, nb, read_again);
  else
    inner_rows_.set_points(pair_rows_.data(), na + nb, read_again);
}

// The box in units of the scaled kernel (see Kernel).
void OneVsOneSolver::set_box(const Problem& problem) {
  const double C = problem.C * problem.kernel.factor();
  for (std::size_t i = 0; i < box_.size(); ++i) box_[i] = weight_ ? C * weight_[pair_rows_[i]] : C;
}

// The next problem of the pairs in hand, by the solver of the one that is done or by another.
DualState* OneVsOneSolver::next(DualState* done) {
  PairSolver* solver = nullptr;
  for (auto& other : solvers_)
    if (done && other->dual.state() == done) solver = other.get();
  if (solver) record(*solver);
  if (next_problem_ == static_cast<int>(problems_.size())) {
    if (pair_ + 1 == last_pair_) return nullptr;
    set_pair(pairs_[++pair_]);
    next_problem_ = 0;
  }
  // A start from the problem before needs its solver.
  if (options_.warm && !solver && solvers_used_ > 0) return nullptr;
  if (!solver) solver = solvers_[solvers_used_++].get();
  const Pair& pair = pairs_[pair_];
  const Problem& problem = problems_[next_problem_];
  const bool same_pair = done && solver->a == pair.a && solver->b == pair.b;
  const bool same_kernel = same_pair && problems_[solver->problem].degree == problem.degree;
  const bool warm = options_.warm && same_kernel && problem.C >= problems_[solver->problem].C;
  if (!same_kernel && is_small(pair.points))
    solver->rows.build_all(problem.kernel);
  else if (!same_kernel)
    solver->rows.reset(problem.kernel);
  solver->problem = next_problem_++;
  solver->a = pair.a;
  solver->b = pair.b;
  set_box(problem);
  return solver->dual.start(solver->rows, sign_.data(), box_.data(), options_.tol, options_.max_iter, warm);
}

void OneVsOneSolver::record(PairSolver& solver) {
  const int q = solver.problem, a = solver.a, b = solver.b;
  const int width = n_classes_ - 1, na = class_start_[a + 1] - class_start_[a];
  const int pair = a * (2 * n_classes_ - a - 1) / 2 + (b - a - 1);
  const std::size_t base = static_cast<std::size_t>(q) * m_;
  DualOutcome& outcome = outcomes_[static_cast<std::size_t>(q) * n_pairs_ + pair] = solver.dual.outcome();
  if (problems_[q].kernel.factor() != 1.0) outcome.objective /= problems_[q].kernel.factor();
  const double* beta = solver.dual.beta();
  const auto record_class = [&](int c, int from, int to, int column, bool first) {
    const double sign = first ? 1.0 : -1.0;
    std::size_t s = base + class_start_[c];
    for (int i = from; i < to; ++i, ++s) {
      coef_[s * width + column] = beta[i];
      const double decision = solver.dual.fitted(i, sign) + outcome.bias;
      wins_[s] += (decision > 0.0) == first;
      if (options_.decisions && n_classes_ == 2) decision_[s] = decision;
    }
  };
  record_class(a, 0, na, b - 1, true);
  record_class(b, na, solver.dual.state()->n, a, false);
}

void OneVsOneSolver::assemble(int q, SvmBatch& out) {
  const int width = n_classes_ - 1;
  const double* coef = coef_.data() + static_cast<std::size_t>(q) * m_ * width;
  // Room for all points; those that are no support points are written over by the next.
  const std::size_t first_support = out.support.size(), first_coef = out.coef.size();
  out.support.resize(first_support + m_);
  out.coef.resize(first_coef + static_cast<std::size_t>(m_) * width);
  support_.resize(m_);
  double* to = out.coef.data() + first_coef;
  int n_support = 0;
  for (int a = 0; a < n_classes_; ++a) {
    const int before = n_support;
    for (int s = class_start_[a]; s < class_start_[a + 1]; ++s, coef += width) {
      bool used = false;
      for (int k = 0; k < width; ++k) {
        to[k] = coef[k];
        used |= coef[k] != 0.0;
      }
      support_[n_support] = s;
      out.support[first_support + n_support] = sorted_[s];
      n_support += used;
      to += used ? width : 0;
    }
    out.classes.push_back(classes_[a]);
    out.class_support.push_back(n_support - before);
  }
  out.support.resize(first_support + n_support);
  out.coef.resize(first_coef + static_cast<std::size_t>(n_support) * width);
  for (int pair = 0; pair < n_pairs_; ++pair) {
    const DualOutcome& outcome = outcomes_[static_cast<std::size_t>(q) * n_pairs_ + pair];
    out.bias.push_back(outcome.bias);
    out.objective.push_back(outcome.objective);
    out.gap.push_back(outcome.gap);
    out.iterations.push_back(outcome.iterations);
    out.status.push_back(static_cast<std::int32_t>(outcome.status));
  }
  out.n_classes.push_back(n_classes_);
  out.n_support.push_back(n_support);
  out.scale.push_back(problems_[q].kernel.scale());
  count_votes(q, out.support.data() + first_support, out);
}

// A point that wins all pairs of its own class is certainly right: no other class can have as many
// votes. Only the others are put to all SVMs.
void OneVsOneSolver::count_votes(int q, const std::int32_t* support, SvmBatch& out) {
  const int width = n_classes_ - 1, n_support = out.n_support.back();
  SvmView svm;
  svm.n_classes = n_classes_;
  svm.n_support = n_support;
  svm.class_support = out.class_support.data() + out.class_support.size() - n_classes_;
  svm.coef = out.coef.data() + out.coef.size() - static_cast<std::size_t>(n_support) * width;
  svm.bias = out.bias.data() + out.bias.size() - n_pairs_;
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
      if (shared_products_)
        std::transform(support_.begin(), support_.begin() + n_support, inner_.begin(),
                       [row = products_.row(s)](int k) { return row[k]; });
      else
        source_.products(sorted_[s], support, n_support, inner_.data());
      problems_[q].kernel.values(inner_.data(), norms_.data(), source_.norms[sorted_[s]], padded, values_.data());
      winner = votes_.winner(svm, votes_.decisions(svm, values_.data()));
    }
    correct += winner == class_of_[s];
    out.predicted[first + place_[s]] = classes_[winner];
    if (options_.decisions) out.decision[first + place_[s]] = decision_[at];
  }
  out.n_correct.push_back(correct);
}

namespace {

// The most numbers that the results of a batch may be.
struct ResultSizes {
  std::size_t points = 0, classes = 0, pairs = 0, coefficients = 0;

  void add(std::size_t group_points, std::size_t group_classes) {
    points += group_points;
    classes += group_classes;
    pairs += group_classes * (group_classes - 1) / 2;
    coefficients += group_points * (group_classes - 1);
  }
};

ResultSizes result_sizes(const ProblemList& problems, const std::int32_t* label) {
  ResultSizes sizes;
  std::vector<std::int64_t> last_seen;  // group in which a class was last seen
  std::size_t classes = 0;
  for (std::int64_t p = 0; p < problems.count; ++p) {
    const std::int32_t* points = problems.points_of(p);
    const std::int64_t group = problems.group[p];
    if (p == 0 || group != problems.group[p - 1]) {
      classes = 0;
      for (std::int64_t k = 0; k < problems.size_of(p); ++k) {
        const auto c = static_cast<std::size_t>(label[points[k]]);
        if (c >= last_seen.size()) last_seen.resize(c + 1, -1);
        classes += last_seen[c] != p;
        last_seen[c] = p;
      }
    }
    sizes.add(static_cast<std::size_t>(problems.size_of(p)), classes);
  }
  return sizes;
}

// Room for all results: growing them would copy, and leave holes. What stays unused is never written: it costs nothing.
void reserve(const ProblemList& problems, const std::int32_t* label, bool decisions, SvmBatch& batch) {
  const ResultSizes sizes = result_sizes(problems, label);
  const std::size_t count = static_cast<std::size_t>(problems.count);
  for (auto* of_problem : {&batch.n_classes, &batch.n_support, &batch.n_correct}) of_problem->reserve(count);
  batch.scale.reserve(count);
  for (auto* of_class : {&batch.classes, &batch.class_support}) of_class->reserve(sizes.classes);
  for (auto* of_pair : {&batch.bias, &batch.objective, &batch.gap}) of_pair->reserve(sizes.pairs);
  batch.iterations.reserve(sizes.pairs);
  batch.status.reserve(sizes.pairs);
  batch.support.reserve(sizes.points);
  batch.coef.reserve(sizes.coefficients);
  batch.predicted.reserve(sizes.points);
  if (decisions) batch.decision.reserve(sizes.points);
}

}  // namespace

bool solve_batch(const InnerSource& source, const KernelSpec& kernel, const ProblemList& problems,
                 const std::int32_t* label, const double* weight, const SolveOptions& options, StopSignal& stop,
                 SvmBatch& out) {
  OneVsOneSolver solver(source, kernel, options, stop);
  reserve(problems, label, options.decisions, out);
  std::int64_t largest = 0;
  for (std::int64_t p = 0; p < problems.count; ++p) largest = std::max(largest, problems.size_of(p));
  solver.expect(static_cast<int>(largest));
  for (std::int64_t p = 0, next; p < problems.count; p = next) {
    next = p + 1;
    while (next < problems.count && problems.group[next] == problems.group[p]) ++next;
    if (!solver.solve(problems.points_of(p), static_cast<int>(problems.size_of(p)), label, weight, problems.degree + p,
                      problems.C + p, static_cast<int>(next - p), out))
      return false;
  }
  return true;
}

}  // namespace surewood
