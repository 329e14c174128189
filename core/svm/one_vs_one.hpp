// One-vs-one SVMs of one group of points (a leaf), for many (degree, C); and of a batch of groups: problem p is
// (group[p], degree[p], C[p]).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/aligned.hpp"
#include "svm/dual.hpp"
#include "svm/group_products.hpp"
#include "svm/kernel_rows.hpp"
#include "svm/pairwise_svm.hpp"

namespace surewood {

struct SolveOptions {
  double tol = 1e-3;
  std::int64_t max_iter = 10'000;  // per pair
  std::size_t cache_bytes = std::size_t{64} << 20;
  bool warm = false;       // start a larger C from the solution of the one before
  bool decisions = false;  // keep decision values at the group's points (two classes)
};

// Results of a batch, flat; one entry per problem by default, problems in the order given.
struct SvmBatch {
  std::vector<std::int32_t> n_classes, n_support, n_correct;
  std::vector<double> scale;                         // see Kernel
  std::vector<std::int32_t> classes, class_support;  // one per class present in the group
  UnsetVector<double> bias, objective, gap;          // one per pair
  UnsetVector<std::int64_t> iterations;              // one per pair
  UnsetVector<std::int32_t> status;                  // one per pair, DualStatus
  UnsetVector<std::int32_t> support;                 // rows of X
  UnsetVector<double> coef;                          // (n_support, n_classes - 1) per problem
  UnsetVector<std::int32_t> predicted;               // one per point of the group
  std::vector<double> decision;                      // one per point, where asked for
};

class OneVsOneSolver final : DualQueue {
 public:
  OneVsOneSolver(const InnerSource& source, const KernelSpec& kernel, const SolveOptions& options, StopSignal& stop);

  void expect(int m);  // the most points a group will have; room is then taken once
  // Appends `count` SVMs on the points `group` (m rows of X) to `out`. `label` and `weight` (or nullptr)
  // are indexed by row of X; C_i = C weight_i. Problems of one degree should stand together, C rising.
  // False when a stop was requested; `out` is then incomplete.
  bool solve(const std::int32_t* group, int m, const std::int32_t* label, const double* weight,
             const std::int32_t* degree, const double* C, int count, SvmBatch& out);

 private:
  struct Problem {
    Kernel kernel;
    double C;
    int degree;
  };
  // The solver of a pair and its kernel rows; used again for the next pair.
  struct PairSolver {
    PairSolver(InnerRows& inner, std::size_t cache_bytes) : rows(inner, cache_bytes) {}
    KernelRows rows;
    DualSolver dual;
    int problem = -1, a = 0, b = 0;
  };
  struct Pair {
    int a, b, points;
    int padded() const { return padded_to_lanes(points); }
  };
  bool solve_some(const std::int32_t* degree, const double* C, int count, SvmBatch& out);
  void share_kernel_room(const Pair& pair, int n_solvers);
  void sort_by_class(const std::int32_t* group, int m, const std::int32_t* label);
  void list_pairs();
  void share_products();
  bool run_pairs(std::size_t first, std::size_t last);
  DualState* next(DualState* done) override;
  bool stop_requested() override { return stop_.requested(); }
  void set_pair(const Pair& pair);
  void set_box(const Problem& problem);
  bool whole_kernel_fits(int points) const;
  bool is_small(int points) const;
  void record(PairSolver& solver);
  void assemble(int q, SvmBatch& out);
  void count_votes(int q, const std::int32_t* support, SvmBatch& out);

  InnerSource source_;
  KernelSpec kernel_;
  SolveOptions options_;
  StopSignal& stop_;
  GroupProducts products_;
  InnerRows inner_rows_;
  std::vector<std::unique_ptr<PairSolver>> solvers_;
  SvmVotes votes_;

  // The group in hand: its points sorted by class.
  int m_ = 0, n_classes_ = 0, n_pairs_ = 0, largest_group_ = 0;
  std::vector<std::int32_t> sorted_, place_, class_of_, classes_, class_start_;
  const double* weight_ = nullptr;
  std::vector<Problem> problems_;
  std::vector<Pair> pairs_;       // small ones first
  bool shared_products_ = false;  // whether products_ are those of the group
  // Per problem: coefficients of every point, pairs won against other classes, decision values.
  UnsetVector<double> coef_;
  std::vector<double> decision_;
  std::vector<std::int32_t> wins_;
  std::vector<DualOutcome> outcomes_;
  // The pairs at work: from the one in hand to the last, and the next problem of the one in hand.
  std::size_t pair_ = 0, last_pair_ = 0;
  int next_problem_ = 0, solvers_used_ = 0;
  std::vector<std::int32_t> pair_rows_;
  std::vector<double> sign_, box_;
  std::vector<int> support_;  // of the SVM in hand, as places among the sorted points
  std::vector<float> inner_, values_, norms_;
  UnsetVector<float> kernel_values_;  // of all solvers
};

struct ProblemList {
  const std::int32_t* points;  // rows of X, group after group
  const std::int64_t* start;   // where each group begins, and the end
  std::int64_t n_groups;
  const std::int32_t *group, *degree;  // per problem; problems of one group stand together
  const double* C;
  std::int64_t count;

  const std::int32_t* points_of(std::int64_t problem) const { return points + start[group[problem]]; }
  std::int64_t size_of(std::int64_t problem) const { return start[group[problem] + 1] - start[group[problem]]; }
};

// Appends the solutions of all problems to `out`; false when a stop was requested. `label` and `weight` (or nullptr)
// are indexed by row of X.
bool solve_batch(const InnerSource& source, const KernelSpec& kernel, const ProblemList& problems,
                 const std::int32_t* label, const double* weight, const SolveOptions& options, StopSignal& stop,
                 SvmBatch& out);

}  // namespace surewood
