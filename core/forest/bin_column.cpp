#include "forest/bin_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/cpu.hpp"
#include "forest/bins.hpp"

namespace surewood {

namespace {

constexpr std::uint32_t kGroup = 16;
constexpr std::size_t kBlockColumns = 32;    // whose tables and tiles stay in the cache together
constexpr double kTableSize = 4096.0;        // entries of the largest table of whole numbers
constexpr double kExactWhole = 9007199254740992.0;  // whole numbers up to this one are doubles

// The edges of a column, padded with infinity, as numbers of the column's own type: of floats the largest that is not
// above the edge, so that every float is on the same side.
template <class Real>
struct Edges {
  alignas(64) Real edge[kGroup * kGroup];
  alignas(64) Real last[kGroup];  // of each group of edges
  std::uint32_t n = 0;

  void set(const double* edges, std::size_t n_edges) {
    n = static_cast<std::uint32_t>(n_edges);
    std::fill(edge, edge + kGroup * kGroup, std::numeric_limits<Real>::infinity());
    for (std::size_t k = 0; k < n_edges; ++k) edge[k] = largest_up_to<Real>(edges[k]);
    for (std::uint32_t g = 0; g < kGroup; ++g) last[g] = edge[kGroup * g + kGroup - 1];
  }
};

namespace baseline {
template <class Real>
SUREWOOD_INLINE std::uint32_t count_below(const Real* edges, Real value) {
  std::uint32_t at = 0;  // halving without a branch on the data
  for (std::uint32_t half = kGroup / 2; half > 0; half >>= 1) at += edges[at + half - 1] < value ? half : 0;
  return at + (edges[at] < value);
}
#include "forest/bin_column.inl"
}  // namespace baseline

#if defined(SUREWOOD_X86_SETS)
#include "common/target_avx2.inl"
namespace avx2 {
SUREWOOD_INLINE std::uint32_t count_below(const float* edges, float value) {
  const __m256 v = _mm256_set1_ps(value);
  const int low = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(edges), v, _CMP_LT_OQ));
  const int high = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(edges + 8), v, _CMP_LT_OQ));
  return static_cast<std::uint32_t>(__builtin_popcount(static_cast<unsigned>(low | high << 8)));
}
SUREWOOD_INLINE std::uint32_t count_below(const double* edges, double value) {
  const __m256d v = _mm256_set1_pd(value);
  int bits = 0;
  for (int part = 0; part < 4; ++part)
    bits |= _mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(edges + 4 * part), v, _CMP_LT_OQ)) << (4 * part);
  return static_cast<std::uint32_t>(__builtin_popcount(static_cast<unsigned>(bits)));
}
#include "forest/bin_column.inl"
}  // namespace avx2
#include "common/target_end.inl"

#include "common/target_avx512.inl"
namespace avx512 {
SUREWOOD_INLINE std::uint32_t count_below(const float* edges, float value) {
  const __mmask16 bits = _mm512_cmp_ps_mask(_mm512_load_ps(edges), _mm512_set1_ps(value), _CMP_LT_OQ);
  return static_cast<std::uint32_t>(__builtin_popcount(static_cast<unsigned>(bits)));
}
SUREWOOD_INLINE std::uint32_t count_below(const double* edges, double value) {
  const __m512d v = _mm512_set1_pd(value);
  const unsigned low = _mm512_cmp_pd_mask(_mm512_load_pd(edges), v, _CMP_LT_OQ);
  const unsigned high = _mm512_cmp_pd_mask(_mm512_load_pd(edges + 8), v, _CMP_LT_OQ);
  return static_cast<std::uint32_t>(__builtin_popcount(low | high << 8));
}
#include "forest/bin_column.inl"
}  // namespace avx512
#include "common/target_end.inl"
#endif

template <class Real>
void search_any(const Edges<Real>& edges, const Real* values, std::size_t n, std::uint8_t* out) {
#if defined(SUREWOOD_X86_SETS)
  const InstructionSet set = instruction_set();
  if (set == InstructionSet::kAvx512) return avx512::search(edges, values, n, out);
  if (set == InstructionSet::kAvx2) return avx2::search(edges, values, n, out);
#endif
  baseline::search(edges, values, n, out);
}

// Codes of real numbers.
template <class Number>
class RealCoder {
 public:
  using Real = std::conditional_t<std::is_same_v<Number, float>, float, double>;
  RealCoder(const double* edges, std::size_t n_edges) { edges_.set(edges, n_edges); }

  void operator()(const Number* values, std::ptrdiff_t stride, std::size_t n, std::uint8_t* out) const {
    if constexpr (std::is_same_v<Number, Real>)
      if (stride == 1) return search_any(edges_, values, n, out);
    Real tile[kTileRows];
    for (std::size_t row = 0; row < n; row += kTileRows) {
      const std::size_t here = std::min(kTileRows, n - row);
      const Number* from = values + static_cast<std::ptrdiff_t>(row) * stride;
      for (std::size_t i = 0; i < here; ++i) tile[i] = static_cast<Real>(from[static_cast<std::ptrdiff_t>(i) * stride]);
      search_any(edges_, tile, here, out + row);
    }
  }

 private:
  Edges<Real> edges_;
};

// Codes of whole numbers, by table.
template <class Number>
class WholeCoder {
 public:
  // Below the first edge the code is 0, above the last it is the number of edges: the table ends there.
  static bool fits(const double* edges, std::size_t n_edges) {
    return n_edges == 0 || (std::fabs(edges[0]) < kExactWhole / 2 && std::fabs(edges[n_edges - 1]) < kExactWhole / 2 &&
                            edges[n_edges - 1] - edges[0] < kTableSize - 2);
  }

  WholeCoder(const double* edges, std::size_t n_edges) {
    low_ = n_edges == 0 ? 0 : static_cast<std::int64_t>(std::floor(edges[0]));
    high_ = n_edges == 0 ? 0 : static_cast<std::int64_t>(std::floor(edges[n_edges - 1])) + 1;
    if constexpr (sizeof(Number) == 1) {
      low_ = std::numeric_limits<Number>::min();
      high_ = std::numeric_limits<Number>::max();
    }
    table_.resize(static_cast<std::size_t>(high_ - low_) + 1);
    std::size_t code = 0;
    for (std::size_t k = 0; k < table_.size(); ++k) {
      const auto value = static_cast<double>(low_ + static_cast<std::int64_t>(k));
      while (code < n_edges && edges[code] < value) ++code;
      table_[k] = static_cast<std::uint8_t>(code);
    }
  }

  void operator()(const Number* values, std::ptrdiff_t stride, std::size_t n, std::uint8_t* out) const {
    const std::uint8_t* table = table_.data();
    for (std::size_t i = 0; i < n; ++i) {
      const Number value = values[static_cast<std::ptrdiff_t>(i) * stride];
      if constexpr (sizeof(Number) == 1)
        out[i] = table[static_cast<int>(value) - std::numeric_limits<Number>::min()];
      else
        out[i] = table[place(value)];
    }
  }

 private:
  std::size_t place(Number value) const {
    if constexpr (std::is_same_v<Number, std::uint64_t>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return table_.size() - 1;
    return static_cast<std::size_t>(std::clamp(static_cast<std::int64_t>(value), low_, high_) - low_);
  }

  std::int64_t low_, high_;
  std::vector<std::uint8_t> table_;
};

// A block of columns, tile by tile.
template <class Coder, class Number>
void code_block(const NumberView<Number>& view, const std::vector<Coder>& coders, const std::vector<std::size_t>& columns,
                std::uint8_t* out, std::size_t out_stride) {
  const std::size_t tile = view.row_stride == 1 ? view.n_rows : kTileRows;
  for (std::size_t row = 0; row < view.n_rows; row += tile)
    for (std::size_t c = 0; c < columns.size(); ++c)
      coders[c](view.at(row, columns[c]), view.row_stride, std::min(tile, view.n_rows - row),
                out + columns[c] * out_stride + row);
}

}  // namespace

void bin_column(const double* values, std::size_t n, const double* edges, std::size_t n_edges, std::uint8_t* out) {
  RealCoder<double>(edges, n_edges)(values, 1, n, out);
}

template <class Number>
void bin_columns(const NumberView<Number>& view, std::size_t begin, std::size_t end, const double* edges,
                 const std::int64_t* start, std::uint8_t* out, std::size_t out_stride) {
  for (std::size_t first = begin; first < end; first += kBlockColumns) {
    std::vector<RealCoder<Number>> real;
    std::vector<std::size_t> real_columns, whole_columns;
    const std::size_t stop = std::min(end, first + kBlockColumns);
    if constexpr (std::is_integral_v<Number>) {
      std::vector<WholeCoder<Number>> whole;
      for (std::size_t j = first; j < stop; ++j) {
        const double* column = edges + start[j];
        const auto n_edges = static_cast<std::size_t>(start[j + 1] - start[j] - 1);
        if (sizeof(Number) > 1 && !WholeCoder<Number>::fits(column, n_edges)) continue;
        whole.emplace_back(column, n_edges);
        whole_columns.push_back(j);
      }
      code_block(view, whole, whole_columns, out, out_stride);
    }
    for (std::size_t j = first; j < stop; ++j) {
      if (std::binary_search(whole_columns.begin(), whole_columns.end(), j)) continue;
      real.emplace_back(edges + start[j], static_cast<std::size_t>(start[j + 1] - start[j] - 1));
      real_columns.push_back(j);
    }
    code_block(view, real, real_columns, out, out_stride);
  }
}

#define SUREWOOD_INSTANTIATE(Number)                                                                            \
  template void bin_columns<Number>(const NumberView<Number>&, std::size_t, std::size_t, const double*,         \
                                    const std::int64_t*, std::uint8_t*, std::size_t);
SUREWOOD_FOR_NUMBERS(SUREWOOD_INSTANTIATE)
#undef SUREWOOD_INSTANTIATE

bool column_fits(const std::uint8_t* codes, std::size_t n, std::uint8_t last, bool missing_allowed) {
  const std::uint8_t allowed = missing_allowed ? kMissingCode : last;
  std::uint8_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong |= static_cast<std::uint8_t>((codes[i] > last) & (codes[i] != allowed));
  return !wrong;
}

}  // namespace surewood
