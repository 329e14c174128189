#include "svm/block_predict.hpp"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "common/aligned.hpp"
#include "svm/row_evaluator.hpp"
#include "svm/vote_block.hpp"

namespace surewood {

namespace {

// Tasks of a range of rows in the order of their SVMs; within an SVM in the order of rows. Where there is no
// SVM the code is written at once.
struct SortedTasks {
  struct Task {
    std::uint32_t row, at;  // within the range
  };
  std::vector<std::int32_t> first, next;  // (n_svms + 1,)
  UnsetVector<Task> tasks;

  void sort(const std::int32_t* assign, std::uint32_t rows, int tasks_a_row, int n_svms, std::int32_t* codes) {
    const std::size_t count = static_cast<std::size_t>(rows) * tasks_a_row;
    first.assign(n_svms + 1, 0);
    for (std::size_t k = 0; k < count; ++k)
      if (assign[k] >= 0) ++first[assign[k] + 1];
    for (int m = 0; m < n_svms; ++m) first[m + 1] += first[m];
    next = first;
    tasks.resize(first[n_svms]);
    std::uint32_t at = 0;
    for (std::uint32_t row = 0; row < rows; ++row)
      for (int t = 0; t < tasks_a_row; ++t, ++at)
        if (assign[at] >= 0)
          tasks[next[assign[at]]++] = {row, at};
        else
          codes[at] = code_without_svm(assign[at]);
  }
};

// Rows in the shapes that the two evaluations read.
struct RowBlock {
  const double* x = nullptr;
  std::vector<float> single, squared_norms, norms;

  void set(const double* rows, std::int64_t count, int d, bool with_products) {
    x = rows;
    if (!with_products) single.assign(rows, rows + count * d);
    squared_norms.resize(count);
    surewood::squared_norms(rows, count, d, squared_norms.data());
    norms.resize(count);
    for (std::int64_t i = 0; i < count; ++i) norms[i] = std::sqrt(squared_norms[i]);
  }
};

class BlockVoter {
 public:
  BlockVoter(const SvmTable& table, const KernelSpec& kernel, const StoredProducts& stored)
      : table_(table), stored_(stored), exact_(table, kernel) {}

  void set_first_row(std::int64_t first) { first_row_ = first; }
  // Puts SVM m to the rows of its tasks and writes their codes.
  void vote(int m, const SortedTasks::Task* task, const SortedTasks::Task* end, const RowBlock& rows,
            std::int32_t* codes) {
    if (task == end) return;
    if (table_.n_classes[m] == 1) {
      for (; task < end; ++task) codes[task->at] = table_.classes[table_.class_at[m]];
      return;
    }
    const std::int32_t* support = table_.support + table_.support_at[m];
    packed_.pack(table_.svm(m), exact_.poly(m), support, table_.rows, table_.norms, stored_.matrix ? 0 : table_.d);
    if (stored_.matrix) find_columns(support, table_.n_support[m]);
    votes_.values.resize(static_cast<std::size_t>(packed_.view().n_support) * kVoteRows);
    votes_.pairs.resize(static_cast<std::size_t>(table_.n_classes[m]) * 2 * kVoteRows);
    lanes_.resize(static_cast<std::size_t>(table_.d) * kVoteRows);
    while (task < end) task = vote_block(m, task, end, rows, codes);
  }

 private:
  // The next kVoteRows different rows; tasks of one row that share the SVM stand side by side.
  const SortedTasks::Task* vote_block(int m, const SortedTasks::Task* task, const SortedTasks::Task* end,
                                      const RowBlock& rows, std::int32_t* codes) {
    const std::int32_t* classes = table_.classes + table_.class_at[m];
    std::uint32_t row[kVoteRows];
    float lane_norm[kVoteRows], doubt[kVoteRows] = {};
    int count = 0;
    for (const auto* next = task; next < end; ++next) {
      if (count && next->row == row[count - 1]) continue;
      if (count == kVoteRows) break;
      row[count] = next->row;
      lane_row_[count++] = lane_row(rows, next->row);
      // Rows of an SVM are too far apart for the processor to guess the next one.
      if (end - next > kVoteRows) prefetch(lane_row(rows, next[kVoteRows].row));
    }
    stored_.matrix ? fill_products(count) : fill_lanes(count);
    svm_routines().vote_values(packed_.view(), lanes_.data(), count, votes_);
    for (int l = 0; l < count; ++l) lane_norm[l] = rows.norms[row[l]];
    packed_.doubts(lane_norm, votes_.peak, count, doubt);
    svm_routines().vote_pairs(packed_.view(), doubt, count, votes_);
    for (int l = 0; l < count; ++l) {
      const std::int32_t code =
          votes_.is_sure[l] ? classes[votes_.winner[l]] : exact_code(m, rows, row[l], lane_row_[l]);
      for (; task < end && task->row == row[l]; ++task) codes[task->at] = code;
    }
    return task;
  }

  // What a lane reads: the row, or its stored products.
  const float* lane_row(const RowBlock& rows, std::uint32_t row) const {
    if (stored_.matrix) return stored_.matrix + stored_.row[first_row_ + row] * stored_.n;
    return rows.single.data() + static_cast<std::size_t>(row) * table_.d;
  }

  std::int32_t exact_code(int m, const RowBlock& rows, std::uint32_t row, const float* products) {
    const float norm = rows.squared_norms[row];
    if (stored_.matrix) return exact_.code(m, products, columns_.data(), norm);
    return exact_.code_at(m, rows.x + static_cast<std::size_t>(row) * table_.d, norm);
  }

  // Where the products with the support points of an SVM are in a row of the stored matrix.
  void find_columns(const std::int32_t* support, int n) {
    columns_.resize(n);
    for (int s = 0; s < n; ++s) columns_[s] = stored_.support[support[s]];
    products_.assign(static_cast<std::size_t>(packed_.view().n_support) * kVoteRows, 0.0f);
    packed_.set_products(products_.data());
  }

  // Stored products to lanes, a few columns of all rows after another: what is written stays in the cache.
  void fill_products(int count) {
    constexpr int kTile = 16;
    const int n = static_cast<int>(columns_.size());
    for (int first = 0; first < n; first += kTile) {
      const int last = std::min(first + kTile, n);
      for (int l = 0; l < count; ++l) {
        float* out = products_.data() + l;
        for (int s = first; s < last; ++s) out[static_cast<std::size_t>(s) * kVoteRows] = lane_row_[l][columns_[s]];
      }
    }
  }

  // Rows to lanes, four by four where the processor can.
  void fill_lanes(int count) {
    const int d = table_.d;
    float* out = lanes_.data();
    int lane = 0;
#if defined(__SSE__)
    for (; lane + 4 <= count; lane += 4) {
      int f = 0;
      for (; f + 4 <= d; f += 4) {
        __m128 a = _mm_loadu_ps(lane_row_[lane] + f), b = _mm_loadu_ps(lane_row_[lane + 1] + f);
        __m128 c = _mm_loadu_ps(lane_row_[lane + 2] + f), e = _mm_loadu_ps(lane_row_[lane + 3] + f);
        _MM_TRANSPOSE4_PS(a, b, c, e);
        _mm_storeu_ps(out + (f + 0) * kVoteRows + lane, a);
        _mm_storeu_ps(out + (f + 1) * kVoteRows + lane, b);
        _mm_storeu_ps(out + (f + 2) * kVoteRows + lane, c);
        _mm_storeu_ps(out + (f + 3) * kVoteRows + lane, e);
      }
      for (; f < d; ++f)
        for (int l = lane; l < lane + 4; ++l) out[f * kVoteRows + l] = lane_row_[l][f];
    }
#endif
    for (; lane < count; ++lane)
      for (int f = 0; f < d; ++f) out[f * kVoteRows + lane] = lane_row_[lane][f];
  }

  static void prefetch(const float* at) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
  }

  const SvmTable& table_;
  const StoredProducts stored_;
  std::int64_t first_row_ = 0;  // of the rows in hand
  RowEvaluator exact_;
  PackedSvm packed_;
  BlockVotes votes_;
  std::vector<std::int32_t> columns_;
  AlignedVector<float> products_;  // (n_support, kVoteRows)
  AlignedVector<float> lanes_;     // (d, kVoteRows)
  const float* lane_row_[kVoteRows];
};

constexpr std::int64_t kTasksAtATime = 1 << 21;  // bounds the memory of the sorted tasks: 16 MB

}  // namespace

bool blocks_are_quicker(std::int64_t rows, const SvmTable& table, const std::int32_t* assign, int tasks) {
  // Nanoseconds as measured: a kernel value costs a product over the features either way. Some rows speak for all.
  const std::int64_t step = std::max<std::int64_t>(1, rows / 1024);
  std::vector<std::int32_t> count(table.n_svms, 0);
  double terms = 0.0, lanes = 0.0;
  for (std::int64_t row = 0; row < rows; row += step)
    for (std::int64_t k = row * tasks; k < (row + 1) * tasks; ++k)
      if (assign[k] >= 0) ++count[assign[k]];
  for (int m = 0; m < table.n_svms; ++m) {
    const double support = table.n_support[m];
    terms += support * static_cast<double>(step * count[m]);
    lanes += support * 16.0 * static_cast<double>((step * count[m] + 15) / 16);
  }
  const double by_product = 0.5 * rows * table.n_rows * table.d + 3.0 * terms;
  const double by_machine = 0.05 * (table.d + 12) * lanes + 10.0 * rows * tasks;
  return by_machine < by_product;
}

bool predict_by_svm(const double* x, std::int64_t rows, const KernelSpec& kernel, const SvmTable& table,
                    const StoredProducts& stored, const std::int32_t* assign, int tasks, StopSignal& stop,
                    std::int32_t* codes) {
  const std::int64_t at_a_time = std::max<std::int64_t>(1, kTasksAtATime / std::max(tasks, 1));
  BlockVoter voter(table, kernel, stored);
  SortedTasks sorted;
  RowBlock block;
  for (std::int64_t start = 0; start < rows; start += at_a_time) {
    const std::int64_t count = std::min(at_a_time, rows - start);
    std::int32_t* block_codes = codes + start * tasks;
    block.set(x + start * table.d, count, table.d, stored.matrix != nullptr);
    voter.set_first_row(start);
    sorted.sort(assign + start * tasks, static_cast<std::uint32_t>(count), tasks, table.n_svms, block_codes);
    for (int m = 0; m < table.n_svms; ++m) {
      if (stop.requested()) return false;
      const SortedTasks::Task* all = sorted.tasks.data();
      voter.vote(m, all + sorted.first[m], all + sorted.first[m + 1], block, block_codes);
    }
  }
  return true;
}

}  // namespace surewood
