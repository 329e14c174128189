#include "forest/forest_check.hpp"

#include <algorithm>

#include "forest/short_nodes.hpp"

namespace surewood {

namespace {

constexpr std::uint32_t kMaxClasses = 65535;  // a leaf names classes with 16 bits

std::string flaw_of_start(const std::int64_t* start, std::uint32_t n_trees, std::int64_t end, bool empty_allowed,
                          const char* name) {
  if (start[0] != 0) return std::string(name) + " must begin with 0";
  for (std::uint32_t tree = 0; tree < n_trees; ++tree)
    if (start[tree + 1] < start[tree] + !empty_allowed || start[tree + 1] - start[tree] > 0x7FFFFFFF)
      return std::string(name) + " must ascend from tree to tree";
  if (start[n_trees] != end) return std::string(name) + " must end at the length of its array";
  return "";
}

bool is_probability(std::uint32_t bits) {
  const float value = bits_float(bits);
  return value >= 0.0f && value <= 1.0f;
}

// One tree: its pools first, then its nodes.
class TreeCheck {
 public:
  TreeCheck(const ForestView& forest, std::int32_t* last_bin)
      : forest_(forest), binary_pool_(forest.n_classes == 2 && forest.word_bits), last_bin_(last_bin) {}

  const char* flaw(std::uint32_t tree) {
    n_ = static_cast<std::uint32_t>(forest_.node_start[tree + 1] - forest_.node_start[tree]);
    n_leaves_ = static_cast<std::uint32_t>(forest_.leaf_start[tree + 1] - forest_.leaf_start[tree]);
    n_categories_ = static_cast<std::uint32_t>(forest_.category_start[tree + 1] - forest_.category_start[tree]);
    category_left_ = forest_.category_left + forest_.category_start[tree];
    if (const char* flaw = pool_flaw(tree)) return flaw;
    if (!forest_.word_bits) {
      const Node* nodes = forest_.nodes + forest_.node_start[tree];
      for (std::uint32_t i = 0; i < n_; ++i)
        if (const char* flaw = node_flaw(i, nodes[i])) return flaw;
      return nullptr;
    }
    const ShortCodec codec{forest_.word_bits};
    const std::uint32_t* nodes = forest_.short_nodes + forest_.node_start[tree];
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t word = codec.whole(codec.word(nodes[i])), number = codec.number(nodes[i]);
      const bool near = !is_leaf(word) && !node_category(word);
      if (const char* flaw = node_flaw(i, {near ? i + number : number, word})) return flaw;
    }
    return nullptr;
  }

 private:
  // Probabilities, or sparse vectors end to end; notes where they begin.
  const char* pool_flaw(std::uint32_t tree) {
    const std::uint32_t* weight = forest_.leaf_weight + forest_.leaf_start[tree];
    if (binary_pool_) {
      if (!std::all_of(weight, weight + n_leaves_, is_probability)) return "a probability of a leaf is not in 0..1";
      return nullptr;
    }
    const std::uint16_t* a_class = forest_.leaf_class + forest_.leaf_start[tree];
    begins_.assign(n_leaves_, false);
    for (std::uint32_t at = 0; at < n_leaves_;) {
      const std::uint32_t count = a_class[at];
      if (count == 0 || count > n_leaves_ - at - 1) return "a leaf vector runs past its pool";
      if (weight[at] == 0) return "a leaf vector has no weight";
      std::uint64_t sum = 0;
      for (std::uint32_t k = 1; k <= count; ++k) {
        if (a_class[at + k] >= forest_.n_classes) return "a leaf vector names an unknown class";
        sum += weight[at + k];
      }
      if (sum != weight[at]) return "the weights of a leaf vector do not sum to its weight";
      begins_[at] = true;
      at += 1 + count;
    }
    return nullptr;
  }

  const char* node_flaw(std::uint32_t i, Node node) {
    if (is_leaf(node.word)) return leaf_flaw(node);
    const std::uint32_t feature = node_feature(node.word);
    if (feature >= forest_.n_features) return "a split names an unknown feature";
    std::uint32_t left = node.left;
    if (node_category(node.word)) {
      if (node.word != category_word(feature)) return "a category split has a test";
      if (left >= n_categories_) return "a category split has no entry";
      left = category_left_[left];
    } else {
      const auto last = static_cast<std::int32_t>(node_test(node.word) - node_missing_left(node.word));
      if (last < 0) return "a split has no bin on its left side";
      last_bin_[feature] = std::max(last_bin_[feature], last);
    }
    if (left <= i || left >= n_ - 1) return "a child is not after its parent inside the tree";
    return nullptr;
  }

  const char* leaf_flaw(Node leaf) const {
    if (leaf.word == leaf_word(kPureLeaf))
      return leaf.left < forest_.n_classes ? nullptr : "a leaf names an unknown class";
    if (leaf.word == leaf_word(kBinaryLeaf)) {
      if (forest_.n_classes != 2) return "a leaf has a probability though there are not two classes";
      if (forest_.word_bits) return leaf.left < n_leaves_ ? nullptr : "a leaf's probability is not in the pool";
      return is_probability(leaf.left) ? nullptr : "a probability of a leaf is not in 0..1";
    }
    if (leaf.word != leaf_word(kMixedLeaf)) return "a leaf is of no known kind";
    if (binary_pool_ || leaf.left >= n_leaves_ || !begins_[leaf.left]) return "a leaf's vector is not in the pool";
    return nullptr;
  }

  const ForestView& forest_;
  const bool binary_pool_;
  std::int32_t* last_bin_;
  std::uint32_t n_ = 0, n_leaves_ = 0, n_categories_ = 0;
  const std::uint32_t* category_left_ = nullptr;
  std::vector<bool> begins_;
};

}  // namespace

std::string flaw_of_starts(const ForestView& forest, const ForestSizes& sizes) {
  if (forest.n_classes < 1 || forest.n_classes > kMaxClasses) return "n_classes must be from 1 to 65535";
  if (forest.n_features >= kMaxFeatures) return "n_features is more than a node can name";
  if (forest.word_bits && !ShortCodec::valid(forest.word_bits, forest.n_features))
    return "word_bits does not fit n_features";
  std::string flaw = flaw_of_start(forest.node_start, forest.n_trees, sizes.nodes, false, "node_start");
  if (flaw.empty()) flaw = flaw_of_start(forest.leaf_start, forest.n_trees, sizes.leaves, true, "leaf_start");
  if (flaw.empty())
    flaw = flaw_of_start(forest.category_start, forest.n_trees, sizes.categories, true, "category_start");
  return flaw;
}

std::string flaw_of_nodes(const ForestView& forest, std::int32_t* last_bin) {
  std::fill_n(last_bin, forest.n_features, -1);
  TreeCheck check(forest, last_bin);
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree)
    if (const char* flaw = check.flaw(tree)) return std::string(flaw) + " (tree " + std::to_string(tree) + ")";
  return "";
}

}  // namespace surewood
