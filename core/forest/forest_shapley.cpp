#include "forest/forest_shapley.hpp"

#include <algorithm>
#include <vector>

#include "forest/descend.hpp"

namespace surewood {

namespace {

enum Side : std::uint8_t { kOpen, kRow, kBackground };

// Rows of a matrix one after another.
std::vector<std::uint8_t> row_major(const Bins& bins, std::uint32_t begin, std::uint32_t end) {
  const std::size_t width = bins.n_columns();
  std::vector<std::uint8_t> out(width * (end - begin) + 1);
  for (std::size_t j = 0; j < width; ++j)
    for (std::uint32_t i = begin; i < end; ++i) out[(i - begin) * width + j] = bins.by_column[j][i];
  return out;
}

// s! r! / (s + r + 1)! for s, r = 0 ... most.
class Weights {
 public:
  explicit Weights(std::size_t most) : width_(most + 1), weight_(width_ * width_) {
    for (std::size_t s = 0; s < width_; ++s) {
      weight_[s * width_] = 1.0 / static_cast<double>(s + 1);
      for (std::size_t r = 1; r < width_; ++r)
        weight_[s * width_ + r] = weight_[s * width_ + r - 1] * static_cast<double>(r) / static_cast<double>(s + r + 1);
    }
  }
  double at(std::size_t s, std::size_t r) const { return weight_[s * width_ + r]; }

 private:
  std::size_t width_;
  std::vector<double> weight_;
};

// The most splits on the way to a leaf of any tree; children come after their parents.
std::size_t deepest(const ForestView& forest) {
  std::size_t most = 0;
  std::vector<std::uint32_t> depth;
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    const TreeView view = tree_view(forest, tree);
    const std::int64_t n = forest.node_start[tree + 1] - forest.node_start[tree];
    depth.assign(static_cast<std::size_t>(n), 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const Node node = view.nodes[static_cast<std::size_t>(i)];
      most = std::max<std::size_t>(most, depth[static_cast<std::size_t>(i)]);
      if (is_leaf(node.word)) continue;
      const std::uint32_t left = node_category(node.word) ? view.category_left[node.left] : node.left;
      depth[left] = depth[left + 1] = depth[static_cast<std::size_t>(i)] + 1;
    }
  }
  return most;
}

class Walk {
 public:
  Walk(const ForestView& forest, const std::uint32_t* group_of, std::uint32_t n_groups)
      : forest_(forest),
        group_of_(group_of),
        weights_(std::min<std::size_t>(deepest(forest), n_groups)),
        side_(n_groups, kOpen) {}

  void begin_tree(std::uint32_t tree) {
    tree_ = tree;
    view_ = tree_view(forest_, tree);
  }

  // Adds what the tree says of one pair of rows.
  void pair(const std::uint8_t* row, const std::uint8_t* background, double* out) {
    const CodeRows from_row{row, 0}, from_background{background, 0};
    std::uint32_t at = 0;
    for (;;) {
      const Node node = view_.nodes[at];
      if (is_leaf(node.word)) {
        if (!taken_.empty()) add_leaf(node, out);
        if (!turn(at)) return;
        continue;
      }
      const std::uint32_t feature = node_feature(node.word), group = group_of_[feature];
      const std::uint32_t here = from_row.next(view_, node, feature, 0), there = from_background.next(view_, node, feature, 0);
      if (here == there || side_[group] == kRow) {
        at = here;
      } else if (side_[group] == kBackground) {
        at = there;
      } else {
        side_[group] = kRow;
        taken_.push_back({group, there, true});
        ++n_row_;
        at = here;
      }
    }
  }

 private:
  struct Choice {
    std::uint32_t group, other_way;
    bool is_row;
  };

  // Goes back to the last parting of the ways whose other one has not been taken.
  bool turn(std::uint32_t& at) {
    while (!taken_.empty()) {
      Choice& last = taken_.back();
      if (last.is_row) {
        last.is_row = false;
        side_[last.group] = kBackground;
        --n_row_;
        at = last.other_way;
        return true;
      }
      side_[last.group] = kOpen;
      taken_.pop_back();
    }
    return false;
  }

  void add_leaf(Node leaf, double* out) const {
    const std::uint32_t kind = leaf_kind(leaf.word);
    if (kind == kPureLeaf) return add_class(leaf.left, 1.0, out);
    if (kind == kBinaryLeaf) return add_class(1, static_cast<double>(bits_float(leaf.left)), out);
    const std::uint16_t* classes = forest_.leaf_class + forest_.leaf_start[tree_] + leaf.left;
    const std::uint32_t* weights = forest_.leaf_weight + forest_.leaf_start[tree_] + leaf.left;
    const double scale = 1.0 / static_cast<double>(weights[0]);
    for (std::uint32_t k = 1; k <= classes[0]; ++k) add_class(classes[k], scale * static_cast<double>(weights[k]), out);
  }

  // Of two classes only the second is added up.
  void add_class(std::uint32_t code, double value, double* out) const {
    if (forest_.n_classes == 2 && code == 0) return;
    const std::size_t s = n_row_, r = taken_.size() - n_row_;
    const double plus = s ? value * weights_.at(s - 1, r) : 0.0, minus = r ? value * weights_.at(s, r - 1) : 0.0;
    for (const Choice& choice : taken_)
      out[choice.group * std::size_t(forest_.n_classes) + code] += choice.is_row ? plus : -minus;
  }

  const ForestView& forest_;
  const std::uint32_t* group_of_;
  const Weights weights_;
  std::vector<Side> side_;
  std::vector<Choice> taken_;
  std::size_t n_row_ = 0;
  std::uint32_t tree_ = 0;
  TreeView view_{};
};

}  // namespace

void shapley_codes(const ForestView& forest, const Bins& rows, std::uint32_t begin, std::uint32_t end,
                   const Bins& background, const std::uint32_t* group_of, std::uint32_t n_groups, double* out) {
  const std::size_t width = forest.n_features, size = std::size_t(n_groups) * forest.n_classes;
  const std::vector<std::uint8_t> of_rows = row_major(rows, begin, end);
  const std::vector<std::uint8_t> others = row_major(background, 0, background.n_rows);
  Walk walk(forest, group_of, n_groups);
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    walk.begin_tree(tree);
    for (std::uint32_t i = 0; i < end - begin; ++i)
      for (std::uint32_t b = 0; b < background.n_rows; ++b)
        walk.pair(of_rows.data() + i * width, others.data() + b * width, out + i * size);
  }
  if (forest.n_classes != 2) return;
  for (std::size_t i = 0; i < (end - begin) * size; i += 2) out[i] = -out[i + 1];
}

}  // namespace surewood
