#include "forest/boosting/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/rng.hpp"
#include "forest/boosting/kernels.hpp"
#include "forest/boosting/tree_growth.hpp"

namespace surewood {

namespace {

using namespace boosting;

constexpr int kMostBits = 14, kSumBits = 30;  // of a rounded gradient, of a sum of them
constexpr double kFine = 0x1.0p30;            // 1 in the sums that values and losses are made of
constexpr double kLeastProbability = 1e-15, kLargestLoss = 64.0;  // the latter a power of two
enum Draw : std::uint64_t { kColumns = 0, kRows = 1, kRounding = 2, kDirections = 3 };

double uniform(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1.0p-53; }

class Booster {
 public:
  Booster(const BoostingRows& rows, const BoostingOptions& options, const double* baseline)
      : rows_(rows),
        options_(options),
        n_(rows.bins->n_rows),
        n_outputs_(output_count(rows.n_classes)),
        n_directions_(static_cast<int>(std::min<std::uint32_t>(n_outputs_, kMostDirections))),
        growth_(rows, options, n_directions_),
        score_(std::size_t(n_outputs_) * n_),
        probability_(std::size_t(n_outputs_) * n_),
        rounded_(std::size_t(n_) * growth_.width()),
        scale_(n_),
        fine_scale_(n_),
        leaf_(n_),
        softmax_scratch_((n_outputs_ + 2) * kBlock),
        gradient_(n_),
        hessian_(n_) {
    for (std::uint32_t k = 0; k < n_outputs_; ++k) std::fill_n(score_.begin() + std::size_t(k) * n_, n_, baseline[k]);
    double largest = 0.0;
    for (std::uint32_t row = 0; row < n_; ++row) {
      if (rows.role[row] == Role::kAbsent) continue;
      (rows.role[row] == Role::kTraining ? training_ : held_out_).push_back(row);
      largest = std::max(largest, weight(row));
    }
    int bits = kMostBits;
    while (bits > 1 && (training_.size() >> (kSumBits - bits)) > 0) --bits;
    unit_ = std::ldexp(1.0, bits) / largest;
    fine_unit_ = kFine / largest;
    loss_unit_ = fine_unit_ / kLargestLoss;
    for (std::uint32_t row = 0; row < n_; ++row) {
      const double own = rows.role[row] == Role::kAbsent ? 0.0 : weight(row);
      scale_[row] = own * unit_;
      fine_scale_[row] = own * fine_unit_;
      rounded_[std::size_t(row) * growth_.width() + count_at(growth_.width())] = 1;
    }
    out_.gains.assign(rows.bins->n_columns(), 0.0);
  }

  BoostedTrees run(const std::function<bool()>& stopped) {
    probabilities();
    if (!held_out_.empty()) out_.losses.push_back(held_out_loss());
    std::uint32_t best = 0;
    for (std::uint32_t round = 0; round < options_.n_rounds; ++round) {
      add_tree(round);
      probabilities();
      if (!held_out_.empty()) {
        out_.losses.push_back(held_out_loss());
        if (out_.losses.back() < out_.losses[best]) best = round + 1;
        if (round + 1 - best >= options_.patience + best) break;
      }
      if (stopped()) break;
    }
    return std::move(out_);
  }

 private:
  double weight(std::uint32_t row) const { return rows_.weight ? rows_.weight[row] : 1.0; }
  const float* probability(std::uint32_t output) const { return probability_.data() + std::size_t(output) * n_; }

  void probabilities() {
    if (n_outputs_ == 1) return logistic(score_.data(), n_, probability_.data());
    for (std::size_t begin = 0; begin < n_; begin += kBlock)
      softmax(score_.data() + begin, std::min<std::size_t>(kBlock, n_ - begin), n_, n_outputs_, softmax_scratch_.data(),
              probability_.data() + begin);
  }

  // Of the held-out rows, and of one more that has their mean loss if each had its most probable other class: rows
  // without an error say nothing of what being too sure will cost.
  double held_out_loss() const {
    std::int64_t sum = 0, of_other = 0, total = 0;
    for (const std::uint32_t row : held_out_) {
      const std::uint16_t label = rows_.label[row];
      double own = 0.0, other = 0.0;
      if (n_outputs_ == 1) {
        const double p = probability(0)[row];
        own = label ? p : 1.0 - p;
        other = 1.0 - own;
      } else {
        own = probability(label)[row];
        for (std::uint32_t k = 0; k < n_outputs_; ++k)
          if (k != label) other = std::max(other, double(probability(k)[row]));
      }
      sum += loss(own, row);
      of_other += loss(other, row);
      total += static_cast<std::int64_t>(weight(row) * loss_unit_);
    }
    const auto n = static_cast<double>(held_out_.size());
    return (static_cast<double>(sum) + static_cast<double>(of_other) / n) /
           (static_cast<double>(total) * (1.0 + 1.0 / n));
  }

  std::int64_t loss(double p, std::uint32_t row) const {
    return static_cast<std::int64_t>(-std::log(std::max(p, kLeastProbability)) * weight(row) * loss_unit_);
  }

  // Gradients and hessians of all rows, rounded with random bits of each row.
  void round_gradients(std::uint32_t round) {
    const std::uint64_t key = stream_key(options_.seed, {kRounding, round});
    const int width = growth_.width();
    draw_directions(round);
    double gradient[kMostDirections][kBlock], hessian[kBlock], shift[kBlock];
    for (std::size_t begin = 0; begin < n_; begin += kBlock) {
      const std::size_t count = std::min<std::size_t>(kBlock, n_ - begin);
      block_gradients(begin, count, gradient, hessian);
      for (std::size_t i = 0; i < count; ++i) shift[i] = uniform(mix64(rows_.key[begin + i] ^ key)) - 0.5;
      std::int32_t* out = rounded_.data() + begin * width;
      const double* scale = scale_.data() + begin;
      for (int j = 0; j < n_directions_; ++j) round_to_integers(gradient[j], scale, shift, count, width, out + j);
      round_to_integers(hessian, scale, shift, count, width, out + hessian_at(width));
    }
  }

  void block_gradients(std::size_t begin, std::size_t count, double (*gradient)[kBlock], double* hessian) const {
    const std::uint16_t* label = rows_.label + begin;
    if (n_outputs_ == 1) {
      const float* p = probability(0) + begin;
      for (std::size_t i = 0; i < count; ++i) {
        gradient[0][i] = double(p[i]) - double(label[i]);
        hessian[i] = double(p[i]) * (1.0 - double(p[i]));
      }
      return;
    }
    project_gradients(probability(0) + begin, n_, label, count, n_outputs_, direction_.data(), n_directions_, gradient,
                      hessian);
  }

  // Each output is its own direction, or random signs stand for many of them.
  void draw_directions(std::uint32_t round) {
    if (n_outputs_ == 1) return;
    direction_.assign(std::size_t(n_directions_) * n_outputs_, 0.0);
    if (n_outputs_ <= static_cast<std::uint32_t>(kMostDirections)) {
      for (int j = 0; j < n_directions_; ++j) direction_[std::size_t(j) * n_outputs_ + j] = 1.0;
      return;
    }
    Stream stream(stream_key(options_.seed, {kDirections, round}));
    const double length = 1.0 / std::sqrt(double(n_directions_));
    for (double& factor : direction_) factor = stream.coin() ? length : -length;
  }

  std::vector<std::uint32_t> draw_columns(std::uint32_t round) const {
    std::vector<std::uint32_t> columns(rows_.columns, rows_.columns + rows_.n_columns);
    Stream stream(stream_key(options_.seed, {kColumns, round}));
    const std::uint32_t count = std::min(options_.columns_per_tree, rows_.n_columns);
    for (std::uint32_t i = 0; i < count; ++i) std::swap(columns[i], columns[i + stream.below(rows_.n_columns - i)]);
    columns.resize(count);
    std::sort(columns.begin(), columns.end());
    return columns;
  }

  void draw_rows(std::uint32_t round) {
    const std::uint64_t key = stream_key(options_.seed, {kRows, round});
    const std::size_t width = growth_.width();
    auto& order = growth_.rows();
    order.clear();
    for (const std::uint32_t row : training_)
      if (options_.row_fraction >= 1.0 || uniform(mix64(rows_.key[row] ^ key)) < options_.row_fraction)
        order.push_back(row);
    auto& gradients = growth_.gradients();
    gradients.resize(order.size() * width);
    for (std::size_t i = 0; i < order.size(); ++i)
      copy_cell(growth_.width(), rounded_.data() + order[i] * width, gradients.data() + i * width);
  }

  void add_tree(std::uint32_t round) {
    round_gradients(round);
    draw_rows(round);
    const TreeShape tree = growth_.grow(draw_columns(round), unit_, out_.gains);
    find_leaves(tree);
    const std::vector<float> values = leaf_values(tree);
    for (std::uint32_t k = 0; k < n_outputs_; ++k) {
      double* score = score_.data() + std::size_t(k) * n_;
      for (std::uint32_t row = 0; row < n_; ++row) score[row] += double(values[std::size_t(leaf_[row]) * n_outputs_ + k]);
    }
    out_.nodes.insert(out_.nodes.end(), tree.nodes.begin(), tree.nodes.end());
    out_.values.insert(out_.values.end(), values.begin(), values.end());
    out_.node_start.push_back(static_cast<std::int64_t>(out_.nodes.size()));
  }

  // The leaf of every row.
  void find_leaves(const TreeShape& tree) {
    if (options_.symmetric) {
      number_.assign(n_, 0);
      std::uint32_t first_leaf = 0;
      for (; !is_leaf(tree.nodes[first_leaf].word); first_leaf = 2 * first_leaf + 1) {
        const std::uint32_t word = tree.nodes[first_leaf].word;
        push_bit(rows_.bins->by_column[node_feature(word)].codes, n_, word, number_.data());
      }
      for (std::uint32_t row = 0; row < n_; ++row) leaf_[row] = first_leaf + number_[row];
      return;
    }
    constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
    std::fill(leaf_.begin(), leaf_.end(), kUnknown);
    growth_.each_row([&](std::uint32_t row, std::uint32_t node) { leaf_[row] = node; });
    for (std::uint32_t row = 0; row < n_; ++row) {
      if (leaf_[row] != kUnknown) continue;
      std::uint32_t at = 0;
      for (Node node = tree.nodes[0]; !is_leaf(node.word); node = tree.nodes[at])
        at = node.left + !number_left(node.word, rows_.bins->by_column[node_feature(node.word)][row]);
      leaf_[row] = at;
    }
  }

  // A Newton step of each output in each leaf, on all training rows.
  std::vector<float> leaf_values(const TreeShape& tree) {
    const std::size_t n_outputs = n_outputs_;
    gradient_sum_.assign(tree.nodes.size() * n_outputs, 0);
    hessian_sum_.assign(tree.nodes.size() * n_outputs, 0);
    // Scores of all classes move together: the diagonal of the hessian is too small by this factor.
    const double factor = n_outputs == 1 ? 1.0 : double(n_outputs) / double(n_outputs - 1);
    for (std::uint32_t k = 0; k < n_outputs_; ++k) {
      const std::uint16_t one = n_outputs_ == 1 ? 1 : static_cast<std::uint16_t>(k);
      newton_terms(probability(k), rows_.label, one, fine_scale_.data(), n_, gradient_.data(), hessian_.data());
      for (const std::uint32_t row : training_) {
        const std::size_t at = leaf_[row] * n_outputs + k;
        gradient_sum_[at] += gradient_[row];
        hessian_sum_[at] += hessian_[row];
      }
    }
    std::vector<float> values(tree.nodes.size() * n_outputs, 0.0f);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      if (!is_leaf(tree.nodes[node].word)) continue;
      for (std::size_t k = 0; k < n_outputs; ++k) {
        const std::size_t at = node * n_outputs + k;
        const double below = factor * double(hessian_sum_[at]) + options_.l2 * fine_unit_;
        double value = below > 0.0 ? -double(gradient_sum_[at]) / below : 0.0;
        if (!tree.lower.empty()) value = std::clamp(value, tree.lower[node], tree.upper[node]);
        values[at] = static_cast<float>(options_.learning_rate * value);
      }
    }
    return values;
  }

  const BoostingRows& rows_;
  const BoostingOptions& options_;
  const std::uint32_t n_, n_outputs_;
  const int n_directions_;
  TreeGrowth growth_;
  std::vector<std::uint32_t> training_, held_out_;
  double unit_ = 1.0, fine_unit_ = 1.0, loss_unit_ = 1.0;  // what 1 is in gradients and in sums of leaves and losses
  std::vector<double> score_;            // output after output
  std::vector<float> probability_;
  AlignedVector<std::int32_t> rounded_;      // gradients, hessian and 1 of every row
  std::vector<double> scale_, fine_scale_;   // of every row: its weight times a unit
  std::vector<std::uint32_t> leaf_;
  std::vector<std::uint8_t> number_;
  std::vector<double> direction_, softmax_scratch_;
  std::vector<std::int64_t> gradient_, hessian_;  // of one output, for every row
  std::vector<std::int64_t> gradient_sum_, hessian_sum_;
  BoostedTrees out_;
};

}  // namespace

BoostedTrees boost(const BoostingRows& rows, const BoostingOptions& options, const double* baseline,
                   const std::function<bool()>& stopped) {
  return Booster(rows, options, baseline).run(stopped);
}

}  // namespace surewood
