// Trees in half the room: nodes of four bytes instead of eight (forest/flat_tree.hpp), for trees that are only read.
// Trees with a number that does not fit stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "forest/flat_tree.hpp"

namespace surewood {

// The nodes of one tree, read as if they were whole ones.
struct ShortNodes {
  const std::uint32_t* nodes;
  const std::uint32_t* pool;  // leaf weights of the tree
  ShortCodec codec;

  std::uint32_t number(std::size_t i) const { return codec.number(nodes[i]); }
  std::uint32_t word(std::size_t i) const { return codec.word(nodes[i]); }

  Node operator[](std::size_t i) const {
    const auto at = static_cast<std::uint32_t>(i);
    if (word(i) < codec.leaf_word()) return {node_category(word(i)) ? number(i) : at + number(i), word(i)};
    const std::uint32_t kind = leaf_kind(word(i));
    return {kind == kBinaryLeaf ? pool[number(i)] : number(i), leaf_word(kind)};
  }
};

// A node of a tree without category splits; what a leaf says is left out. Loops over these need no branch.
inline Node way(const Node* nodes, std::size_t i) { return nodes[i]; }
inline Node way(const ShortNodes& nodes, std::size_t i) {
  const std::uint32_t word = nodes.word(i);
  return {static_cast<std::uint32_t>(i) + nodes.number(i), word | (word >= nodes.codec.leaf_word() ? kLeafWord : 0u)};
}

// What the leaves say, for every node: two classes as the probability of the second in float bits, else the class of a
// pure leaf or `kMixedContent`. Splits get any number.
constexpr std::uint32_t kMixedContent = 0xFFFFFFFFu;

inline void copy_content(const Node* nodes, std::int64_t n, bool binary, std::uint32_t* out) {
  const std::uint32_t one = binary ? float_bits(1.0f) : 1u;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool pure = leaf_kind(nodes[i].word) == kPureLeaf;
    out[i] = pure ? nodes[i].left * one : (binary ? nodes[i].left : kMixedContent);
  }
}

inline void copy_content(const ShortNodes& nodes, std::int64_t n, bool binary, std::uint32_t* out) {
  const std::uint32_t one = binary ? float_bits(1.0f) : 1u;
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = leaf_kind(nodes.word(i)) == kPureLeaf ? nodes.number(i) * one : kMixedContent;
  if (!binary) return;
  const std::uint32_t mark = nodes.codec.leaf_word() | kBinaryLeaf;
  for (std::int64_t i = 0; i < n; ++i)
    if (nodes.word(i) == mark) out[i] = nodes.pool[nodes.number(i)];
}

// The nodes of a tree, of either length.
struct TreeNodes {
  const Node* whole;
  ShortNodes brief;

  Node operator[](std::size_t i) const { return whole ? whole[i] : brief[i]; }
};

inline TreeNodes tree_nodes(const ForestView& forest, std::uint32_t tree) {
  if (!forest.word_bits) return {forest.nodes + forest.node_start[tree], {}};
  return {
      nullptr,
      {forest.short_nodes + forest.node_start[tree], forest.leaf_weight + forest.leaf_start[tree], {forest.word_bits}}};
}

// work(nodes) with the tree's nodes as what they are, so that loops over them need not ask.
template <class Work>
void with_nodes(const ForestView& forest, std::uint32_t tree, Work work) {
  const TreeNodes nodes = tree_nodes(forest, tree);
  if (nodes.whole)
    work(nodes.whole);
  else
    work(nodes.brief);
}

struct ShortTrees {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint16_t> leaf_class;
  std::vector<std::uint32_t> leaf_weight;
  std::vector<std::int64_t> leaf_start{0};
};

// Whole trees made short, or nothing where a number does not fit.
inline std::optional<ShortTrees> shorten(const ForestView& forest, int word_bits) {
  const ShortCodec codec{word_bits};
  const std::uint32_t leaf = codec.leaf_word();
  ShortTrees out;
  out.nodes.resize(static_cast<std::size_t>(forest.node_start[forest.n_trees]));
  out.leaf_class.assign(forest.leaf_class, forest.leaf_class + forest.leaf_start[forest.n_trees]);
  out.leaf_weight.assign(forest.leaf_weight, forest.leaf_weight + forest.leaf_start[forest.n_trees]);
  const bool binary = out.leaf_class.empty();  // else the pools hold sparse vectors
  std::unordered_map<std::uint32_t, std::uint32_t> place;
  std::uint32_t* to = out.nodes.data();
  for (std::uint32_t tree = 0; tree < forest.n_trees; ++tree) {
    const Node* nodes = forest.nodes + forest.node_start[tree];
    const std::int64_t n = forest.node_start[tree + 1] - forest.node_start[tree];
    place.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      const Node node = nodes[i];
      std::uint32_t number = node.left, word = node.word;
      if (!is_leaf(word)) {
        if (!node_category(word)) number -= static_cast<std::uint32_t>(i);
        if (word >= leaf) return std::nullopt;
      } else {
        const std::uint32_t kind = leaf_kind(word);
        if (kind == kBinaryLeaf) {
          if (!binary) return std::nullopt;
          const auto found = place.emplace(node.left, static_cast<std::uint32_t>(place.size()));
          if (found.second) out.leaf_weight.push_back(node.left);
          number = found.first->second;
        }
        word = leaf | kind;
      }
      if (number >= codec.limit()) return std::nullopt;
      *to++ = codec.pack(number, word);
    }
    out.leaf_start.push_back(binary ? static_cast<std::int64_t>(out.leaf_weight.size()) : forest.leaf_start[tree + 1]);
  }
  out.leaf_class.resize(out.leaf_weight.size());
  return out;
}

}  // namespace surewood
