// The layout of grown trees: 8 bytes a node, leaf vectors and category sets in pools of their own.
//
// A split node has `left` = index of its left child (the right one is left + 1) and a word
//     feature << 10 | test << 2 | missing_left << 1 | category
// A number goes left when uint8(code + missing_left) <= test: `test` is the last bin of the left side
// plus missing_left, so the missing code 255 wraps to 0 and follows without a branch. A category split
// keeps in `left` the number of its entry in the pool of category splits (left child and 256-bit set).
//
// A leaf has the feature kLeafFeature and one of three kinds in the low bits: a pure class (in `left`),
// the share of class 1 as float bits (in `left`, two-class problems only), or the offset of a sparse vector
// in the leaf pool: entry 0 = (number of classes, total weight), then (class, weight) by ascending class.
// All indices are relative to the tree, so forests are concatenated without rewriting.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace surewood {

struct Node {
  std::uint32_t left;
  std::uint32_t word;
};

constexpr std::uint32_t kLeafFeature = (1u << 22) - 1;
constexpr std::uint32_t kMaxFeatures = kLeafFeature;  // features 0 ... kMaxFeatures - 1
constexpr std::uint32_t kLeafWord = kLeafFeature << 10;
enum LeafKind : std::uint32_t { kPureLeaf = 0, kMixedLeaf = 1, kBinaryLeaf = 2 };

inline bool is_leaf(std::uint32_t word) { return word >= kLeafWord; }
inline std::uint32_t node_feature(std::uint32_t word) { return word >> 10; }
inline std::uint32_t node_test(std::uint32_t word) { return (word >> 2) & 255u; }
inline bool node_missing_left(std::uint32_t word) { return (word >> 1) & 1u; }
inline bool node_category(std::uint32_t word) { return word & 1u; }

struct CategorySet {
  std::uint64_t bits[4] = {0, 0, 0, 0};
  void add(std::uint8_t code) { bits[code >> 6] |= 1ull << (code & 63); }
  bool has(std::uint8_t code) const { return (bits[code >> 6] >> (code & 63)) & 1u; }
};

// Trees of one batch, one after another; *_start has one entry a tree plus the end.
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

inline std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float bits_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace surewood
