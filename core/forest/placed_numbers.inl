// Body of the passes over a column; included by forest/placed_numbers.cpp once per instruction set, inside a namespace
// of its own. Plain loops of independent lanes, which compilers turn into vectors.

// Smallest and largest number; NaN is passed over.
template <class Real>
void find_range(const Real* values, std::size_t n, Real& low, Real& high) {
  Real least[kLanes], most[kLanes];
  std::fill(least, least + kLanes, std::numeric_limits<Real>::infinity());
  std::fill(most, most + kLanes, -std::numeric_limits<Real>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) {
      const Real value = values[i + k];
      least[k] = value < least[k] ? value : least[k];
      most[k] = value > most[k] ? value : most[k];
    }
  for (; i < n; ++i) {
    least[0] = values[i] < least[0] ? values[i] : least[0];
    most[0] = values[i] > most[0] ? values[i] : most[0];
  }
  low = *std::min_element(least, least + kLanes);
  high = *std::max_element(most, most + kLanes);
}

// The bucket of each number.
template <class Real>
SUREWOOD_INLINE void find_places(const Segments<Real>& segments, std::size_t n_buckets, const Real* values,
                                 std::size_t n, std::uint16_t* places) {
  const auto missing = static_cast<std::int32_t>(n_buckets);
  for (std::size_t i = 0; i < n; ++i) {
    const Real value = values[i];
    Real place = 0;
    for (std::size_t s = 0; s < kSegments; ++s) {
      Real inside = value - segments.start[s];
      inside = inside > 0 ? inside : Real(0);
      inside = inside < segments.length[s] ? inside : segments.length[s];
      place += inside * segments.scale[s];
    }
    const std::int32_t is_missing = -static_cast<std::int32_t>(value != value);
    places[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(place) + (is_missing & missing));
  }
}

// The same, and one more in the count of that bucket where there are counts.
template <class Real>
void count_places(const Segments<Real>& segments, std::size_t n_buckets, const Real* values, std::size_t n,
                  std::uint16_t* places, std::uint32_t* counts) {
  const Segments<Real> local = segments;
  if (counts == nullptr) return find_places(local, n_buckets, values, n, places);
  std::size_t begin = 0;
  for (; begin + kCountedAtOnce <= n; begin += kCountedAtOnce) {  // arithmetic and stores overlap
    find_places(local, n_buckets, values + begin, kCountedAtOnce, places + begin);
    for (std::size_t i = begin; i < begin + kCountedAtOnce; ++i) ++counts[places[i]];
  }
  find_places(local, n_buckets, values + begin, n - begin, places + begin);
  for (std::size_t i = begin; i < n; ++i) ++counts[places[i]];
}

inline void find_sum(const std::uint32_t* sizes, std::size_t n, std::uint32_t& sum, std::uint32_t& most) {
  std::uint32_t total = 0, largest = 0;
  for (std::size_t b = 0; b < n; ++b) {
    total += sizes[b];
    largest = sizes[b] > largest ? sizes[b] : largest;
  }
  sum = total;
  most = largest;
}

// Sorts at most kRanked numbers by counting for each how many come before it: no branch depends on them.
template <class Real>
void rank_sort(Real* items, std::size_t n) {
  Real padded_items[kRanked];
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  for (std::size_t i = 0; i < padded; ++i) padded_items[i] = i < n ? items[i] : std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const Real item = padded_items[i];
    std::int32_t before = 0;
    for (std::size_t k = 0; k < padded; ++k)
      before += (padded_items[k] < item) | ((padded_items[k] == item) & (static_cast<std::int32_t>(k) < static_cast<std::int32_t>(i)));
    items[before] = item;
  }
}

// Lane by lane, the smaller number first.
template <class Real>
SUREWOOD_INLINE void exchange(Real* __restrict first, Real* __restrict second) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Real a = first[lane], b = second[lane];
    first[lane] = a < b ? a : b;
    second[lane] = a > b ? a : b;
  }
}

// The numbers at some positions of the sorted column, and where those equal to them stop, kLanes questions side by
// side. Buckets of more than kWindow numbers are left alone.
template <class Real, class Queries>
void find_numbers(const Real* items, const std::uint32_t* ends, Queries& queries, std::size_t n) {
  constexpr std::uint8_t kNetwork[][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                          {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                          {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
  Real window[kWindow][kLanes], found[kLanes];
  std::int32_t size[kLanes], up_to[kLanes];
  std::uint32_t begin[kLanes];
  for (std::size_t first = 0; first < n; first += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t bucket = queries.bucket[first + lane];
      begin[lane] = ends[bucket];
      size[lane] = static_cast<std::int32_t>(ends[bucket + 1] - begin[lane]);
      for (std::size_t k = 0; k < kWindow; ++k) window[k][lane] = items[begin[lane] + k];
    }
    for (std::size_t k = 0; k < kWindow; ++k)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Real item = window[k][lane] + Real(0);  // one zero
        window[k][lane] = static_cast<std::int32_t>(k) < size[lane] ? item : std::numeric_limits<Real>::infinity();
      }
    for (const auto& pair : kNetwork) exchange(window[pair[0]], window[pair[1]]);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      found[lane] = window[(queries.position[first + lane] - begin[lane]) % kWindow][lane];
      up_to[lane] = 0;
    }
    for (std::size_t k = 0; k < kWindow; ++k)
      for (std::size_t lane = 0; lane < kLanes; ++lane) up_to[lane] += window[k][lane] <= found[lane];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      queries.value[first + lane] = found[lane];
      queries.stop[first + lane] = begin[lane] + static_cast<std::uint32_t>(up_to[lane]);
    }
  }
}

// Codes by bucket, then at most `steps` ends of bins compared with the number.
template <class Real>
void find_codes(const std::uint16_t* places, const Real* values, std::size_t n, const std::uint8_t* code,
                const Real* cuts, std::size_t steps, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bin = code[places[i]];
    bin += cuts[bin] < values[i];
    out[i] = static_cast<std::uint8_t>(bin);
  }
  for (std::size_t step = 1; step < steps; ++step)
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(out[i] + (cuts[out[i]] < values[i]));
}
