// Newton steps over the free points of a problem, where pair steps crawl.
//
// Included inside a namespace once per instruction set, after svm/passes.inl.

// target -= factor * row, element by element.
SUREWOOD_INLINE void subtract_row(double* target, double factor, const double* row, int from, int to) {
  const F64 factors = splat<F64>(factor);
  int k = from;
  for (; k + SUREWOOD_LANES <= to; k += SUREWOOD_LANES)
    store(target + k, load<F64>(target + k) - factors * load<F64>(row + k));
  for (; k < to; ++k) target[k] = target[k] - factor * row[k];
}

enum class FreeStep { none, cut, whole };

// One Newton step over the free points, or, where their kernel is singular, a move along the first direction without
// curvature. Cut where a point meets its bound; none where nothing was moved. Sums are formed element by element, as
// everywhere: the same for any width.
static FreeStep free_step(DualState& s, int& free_count) {
  int at[kMostFree], count = 0;
  free_count = 0;
  for (int i = 0; i < s.n; ++i)
    if (s.beta[i] > s.lo[i] && s.beta[i] < s.hi[i]) {
      if (count == kMostFree) return FreeStep::none;
      at[count++] = i;
    }
  free_count = count;
  if (count < 2) return FreeStep::none;
  // Values are copied: a row may be thrown out when the next one is built.
  float own_kernel[kMostFree][kMostFree];
  int in_kernel[kMostFree];
  for (int p = 0; p < count; ++p) {
    const float* row = row_of(s, at[p]);
    for (int q = 0; q < count; ++q) own_kernel[p][q] = row[at[q]];
    in_kernel[p] = p;
  }
  // The last point answers for the sum: H_pq = <e_p - e_last, K (e_q - e_last)>, g_p = v_p - v_last.
  int k = count - 1;
  const int last = at[k];
  const float* const last_row = own_kernel[k];
  double U[kMostFree * kMostFree];  // rows of the factor, H = U' D^-1 U, D the diagonal of U
  double w[kMostFree], g[kMostFree], d[kMostFree];
  int rank = 0;
  for (; rank < k; ++rank) {
    const int i = at[rank];
    const float* row = own_kernel[in_kernel[rank]];
    const double base = static_cast<double>(last_row[count - 1]) - row[count - 1];
    for (int q = 0; q <= rank; ++q) w[q] = base + (static_cast<double>(row[in_kernel[q]]) - last_row[in_kernel[q]]);
    const double curvature = w[rank];
    g[rank] = s.v[i] - s.v[last];
    for (int q = 0; q < rank; ++q) {
      double* own = U + q * kMostFree;
      const double factor = w[q] / own[q];
      subtract_row(w, factor, own, q + 1, rank);
      w[rank] = w[rank] - factor * w[q];
      g[rank] = g[rank] - factor * g[q];
      own[rank] = w[q];
    }
    U[rank * kMostFree + rank] = w[rank];
    if (w[rank] > kFlat * curvature) continue;
    if (!(std::fabs(g[rank]) < 0.5 * s.tol)) break;
    // Nothing to gain by this point: it stays as it is.
    for (int q = rank; q < k; ++q) {
      at[q] = at[q + 1];
      in_kernel[q] = in_kernel[q + 1];
    }
    --k;
    --rank;
  }
  // Right side: g for the Newton step; the column of the dependent point for the flat direction, on which the
  // objective is all but linear.
  const bool flat = rank < k;
  double share = 1.0, sum = 0.0;
  const int moved = flat ? rank + 1 : k;
  if (flat) {
    share = w[rank] > 0.0 ? std::fabs(g[rank]) / w[rank] : HUGE_VAL;
    d[rank] = g[rank] < 0.0 ? -1.0 : 1.0;
    sum = d[rank];
    for (int p = 0; p < rank; ++p) g[p] = -d[rank] * U[p * kMostFree + rank];
  }
  for (int p = rank - 1; p >= 0; --p) {
    d[p] = g[p] / U[p * kMostFree + p];
    sum = sum + d[p];
    for (int q = 0; q < p; ++q) g[q] = g[q] - U[q * kMostFree + p] * d[p];
  }
  at[moved] = last;
  d[moved] = -sum;
  int hit = -1;
  for (int p = 0; p <= moved; ++p) {
    const double room = (d[p] > 0.0 ? s.hi[at[p]] : s.lo[at[p]]) - s.beta[at[p]];
    if (d[p] != 0.0 && room / d[p] < share) {
      share = room / d[p];
      hit = p;
    }
  }
  if (!(share > 0.0 && share < HUGE_VAL)) return FreeStep::none;
  for (int p = 0; p <= moved; ++p)
    if (!(std::fabs(share * d[p]) < HUGE_VAL)) return FreeStep::none;
  for (int p = 0; p <= moved; ++p) {
    const int i = at[p];
    const double before = s.beta[i];
    double after = before + share * d[p];
    after = after < s.hi[i] ? after : s.hi[i];
    after = after > s.lo[i] ? after : s.lo[i];
    if (p == hit) after = d[p] > 0.0 ? s.hi[i] : s.lo[i];
    s.beta[i] = after;
    set_bit(s.may_rise, i, after < s.hi[i]);
    set_bit(s.may_fall, i, after > s.lo[i]);
    const float* row = row_of(s, i);
    const F64 steps = splat<F64>(after - before);
    for (int e = 0; e < s.padded; e += SUREWOOD_LANES)
      store(s.v + e, load<F64>(s.v + e) - steps * widen(load<F32>(row + e)));
  }
  return hit < 0 ? FreeStep::whole : FreeStep::cut;
}

// Free steps until the free points are at their optimum. Plain iterations then find the next points to set free;
// there are as many of them as would cost the same.
static void free_steps(DualState& s) {
  std::int64_t cost = 8 + s.n / 10;
  for (int round = 0; round < kFreeRounds && s.iterations < s.max_iter; ++round) {
    int free_count;
    const FreeStep taken = free_step(s, free_count);
    cost += free_count;
    if (taken == FreeStep::none) break;
    ++s.iterations;
    if (taken == FreeStep::whole) break;
  }
  keep(s, first_pass(s));
  s.next_free_step = s.iterations + cost;
}
