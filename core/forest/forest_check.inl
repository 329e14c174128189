// Body of the kernels; included by forest/forest_check.cpp once per instruction set, inside a namespace of its own.
// Loops over nodes without branches, so that compilers make vectors of them.

// The first block of nodes from `begin` on in which one is not plainly fine, such as all category splits and leaves
// with vectors; n where there is none.
template <class Nodes>
std::uint32_t find_unclear(const Nodes nodes, std::uint32_t begin, std::uint32_t n, const Limits limits) {
  constexpr std::uint32_t kTest = (1u << kTestBits) - 1, kNothingLeft = 2;  // no test, missing values to the left
  const auto [split_words, last_left, classes, probabilities] = limits;
  for (; begin < n; begin += kBlock) {
    const std::uint32_t end = std::min(begin + kBlock, n);
    std::uint32_t clear = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t word = nodes.word(i), left = nodes.left(i);
      std::uint32_t split = word < split_words ? 1u : 0u;
      split &= (word & 1u) ^ 1u;
      split &= (word & kTest) != kNothingLeft ? 1u : 0u;
      split &= left > i ? 1u : 0u;
      split &= left < last_left ? 1u : 0u;
      std::uint32_t pure = word == leaf_word(kPureLeaf) ? 1u : 0u;
      pure &= left < classes ? 1u : 0u;
      std::uint32_t binary = word == leaf_word(kBinaryLeaf) ? 1u : 0u;
      binary &= left < probabilities ? 1u : 0u;
      clear += split | pure | binary;
    }
    if (clear < end - begin) break;
  }
  return begin;
}

// Whether the last bin on the left of every split by number is below the size of its feature. A category split has
// the test 0; leaves, which have at most that, and the feature n_features here.
template <class Nodes>
bool all_below(const Nodes nodes, std::size_t n, const std::int32_t* size, std::uint32_t n_features) {
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t word = nodes.word(i);
    const auto last = static_cast<std::int32_t>(node_test(word)) - static_cast<std::int32_t>(node_missing_left(word));
    wrong |= last < size[std::min(node_feature(word), n_features)] ? 0u : 1u;
  }
  return !wrong;
}
