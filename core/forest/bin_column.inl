// Body of the search; included by forest/bin_column.cpp once per instruction set, inside a namespace of its own and
// after that set's count_below: how many of 16 ascending edges are below a value.

template <class Real>
void search(const Edges<Real>& edges, const Real* values, std::size_t n, std::uint8_t* out) {
  if (edges.n < kGroup) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t code = count_below(edges.edge, values[i]);
      out[i] = values[i] == values[i] ? static_cast<std::uint8_t>(code) : kMissingCode;
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t group = count_below(edges.last, values[i]);  // the last edge is infinite: at most 15
    const std::uint32_t code = kGroup * group + count_below(edges.edge + kGroup * group, values[i]);
    out[i] = values[i] == values[i] ? static_cast<std::uint8_t>(code) : kMissingCode;
  }
}
