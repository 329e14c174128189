// A forest as flat arrays: the bits of nodes, leaf vectors and category sets in pools of their own, a view of all.
//
// No other file knows the bits of a node (in Python: surewood/trees/node_codec.py). A whole node is 8 bytes. A split has
// `left` = index of its left child (the right one is left + 1) and a word
//     feature << 10 | test << 2 | missing_left << 1 | category
// A number goes left when uint8(code + missing_left) <= test: `test` is the last bin of the left side plus
// missing_left, so the missing code 255 wraps to 0 and follows without a branch. A category split keeps in `left` the
// number of its entry in the pool of category splits (left child and 256-bit set).
//
// A leaf has the feature kLeafFeature and one of three kinds in the low bits: a pure class (in `left`), the probability
// of class 1 as float bits (in `left`, two-class problems only), or the offset of a sparse vector in the leaf pool.
//
// A short node is 4 bytes, for trees that are only read: its upper bits are a number, its lower `word_bits` the word,
// in which the feature takes as few bits as the table needs and all ones mark a leaf. The number is, for a split, the
// distance to the left child (depth-first growth keeps it small); for a category split its entry; for a leaf the class,
// or the offset of the sparse vector, or where in the tree's leaf pool the probability of class 1 stands.
//
// A sparse leaf vector begins with (number of classes, total weight), then (class, weight) by ascending class. All
// indices are relative to the tree, so forests are concatenated without rewriting.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bits.hpp"

namespace surewood {

struct Node {
  std::uint32_t left;
  std::uint32_t word;
};

constexpr int kTestBits = 10;  // of a word, below the feature: test, missing_left, category
constexpr std::uint32_t kLeafFeature = (1u << (32 - kTestBits)) - 1;
constexpr std::uint32_t kMaxFeatures = kLeafFeature;  // features 0 ... kMaxFeatures - 1
constexpr std::uint32_t kLeafWord = kLeafFeature << kTestBits;
enum LeafKind : std::uint32_t { kPureLeaf = 0, kMixedLeaf = 1, kBinaryLeaf = 2 };

inline bool is_leaf(std::uint32_t word) { return word >= kLeafWord; }
inline std::uint32_t leaf_kind(std::uint32_t word) { return word & 3u; }
inline std::uint32_t node_feature(std::uint32_t word) { return word >> kTestBits; }
inline std::uint32_t node_test(std::uint32_t word) { return (word >> 2) & 255u; }
inline std::uint32_t node_missing_left(std::uint32_t word) { return (word >> 1) & 1u; }
inline bool node_category(std::uint32_t word) { return word & 1u; }

// A word without a meaning for the feature, whose test sends every code somewhere: for lanes that have arrived.
constexpr std::uint32_t kIdleWord = 0;

inline std::uint32_t number_word(std::uint32_t feature, std::uint32_t last_left, std::uint32_t missing_left) {
  return feature << kTestBits | (last_left + missing_left) << 2 | missing_left << 1;
}
inline std::uint32_t category_word(std::uint32_t feature) { return feature << kTestBits | 1u; }
inline std::uint32_t leaf_word(std::uint32_t kind) { return kLeafWord | kind; }

// Whether a code goes left at a split by number.
inline bool number_left(std::uint32_t word, std::uint8_t code) {
  return static_cast<std::uint8_t>(code + node_missing_left(word)) <= node_test(word);
}

// How short nodes are divided.
struct ShortCodec {
  int word_bits;

  std::uint32_t number(std::uint32_t node) const { return node >> word_bits; }
  std::uint32_t word(std::uint32_t node) const { return node & ((1u << word_bits) - 1); }
  std::uint32_t leaf_word() const { return ((1u << (word_bits - kTestBits)) - 1) << kTestBits; }
  std::uint32_t pack(std::uint32_t number, std::uint32_t word) const { return number << word_bits | word; }
  // Numbers that fit are below this.
  std::uint32_t limit() const { return word_bits < 32 ? 1u << (32 - word_bits) : 0; }
  // The word of a whole node for one of a short node.
  std::uint32_t whole(std::uint32_t word) const {
    return word < leaf_word() ? word : kLeafWord | (word & ((1u << kTestBits) - 1));
  }
  static bool valid(int word_bits, std::uint32_t n_features) {
    return word_bits > kTestBits && word_bits < 32 && n_features <= (1u << (word_bits - kTestBits)) - 1;
  }
  // Bits of a word whose features are 0 ... n_features - 1, with one more number as the mark of leaves.
  static int word_bits_for(std::uint32_t n_features) {
    int bits = kTestBits + 1;
    while ((1u << (bits - kTestBits)) - 1 < n_features) ++bits;
    return bits;
  }
};

inline std::uint32_t float_bits(float value) { return same_bits<std::uint32_t>(value); }
inline float bits_float(std::uint32_t bits) { return same_bits<float>(bits); }

struct CategorySet {
  std::uint64_t bits[4] = {0, 0, 0, 0};
  void add(std::uint8_t code) { bits[code >> 6] |= 1ull << (code & 63); }
  bool has(std::uint8_t code) const { return (bits[code >> 6] >> (code & 63)) & 1u; }
};

// Trees of one batch, one after another; *_start has one entry per tree plus the end.
struct TreeArrays {
  std::vector<Node> nodes;
  std::vector<std::uint16_t> leaf_class;
  std::vector<std::uint32_t> leaf_weight;
  std::vector<std::uint32_t> category_left;
  std::vector<CategorySet> category_set;
  std::vector<std::int64_t> node_start, leaf_start, category_start;

  // Room for `n` trees about as large as the first, so that the arrays need not move while they grow.
  void reserve_trees(std::size_t n) {
    const std::size_t trees = n + n / 8;
    nodes.reserve(nodes.size() * trees);
    leaf_class.reserve(leaf_class.size() * trees);
    leaf_weight.reserve(leaf_weight.size() * trees);
    category_left.reserve(category_left.size() * trees);
    category_set.reserve(category_set.size() * trees);
  }
};

struct ForestView {
  const Node* nodes = nullptr;
  const std::uint32_t* short_nodes = nullptr;  // instead of `nodes` where word_bits > 0 (forest/short_nodes.hpp)
  int word_bits = 0;
  const std::uint16_t* leaf_class;
  const std::uint32_t* leaf_weight;
  const std::uint32_t* category_left;
  const CategorySet* category_set;
  const std::int64_t *node_start, *leaf_start, *category_start;
  std::uint32_t n_trees, n_classes, n_features;
};

}  // namespace surewood
