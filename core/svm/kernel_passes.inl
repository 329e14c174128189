// Elementwise kernels and products: inner products to kernel values, rows times rows, weighted sums.
//
// Included inside a namespace once per instruction set, after svm/lanes.inl (see svm/targets.cpp). Every
// output element is computed by the same sequence of roundings whatever the block it is part of, so a
// product formed per leaf, per block or per row equals the one stored for the whole training set.

// base^degree by repeated squaring; the same roundings whether the compiler knows the degree or not.
SUREWOOD_INLINE F32 power_of(F32 base, int degree) {
  F32 power = (degree & 1) ? base : splat<F32>(1.0f);
  for (int e = degree >> 1; e; e >>= 1) {
    base = base * base;
    if (e & 1) power = power * base;
  }
  return power;
}

// Known > 0: the degree.
template <int Known, bool Clamp>
SUREWOOD_INLINE void poly_row_of(const float* inner, int padded, const PolyValues& k, float* out) {
  const F32 g = splat<F32>(k.gamma), b = splat<F32>(k.coef0);
  const F32 top = splat<F32>(k.limit), bottom = splat<F32>(-k.limit);
  const int degree = Known ? Known : k.degree;
  for (int i = 0; i < padded; i += SUREWOOD_LANES) {
    const F32 base = g * load<F32>(inner + i) + b;
    store(out + i, power_of(Clamp ? smaller(larger(base, bottom), top) : base, degree));
  }
}

template <bool Clamp>
SUREWOOD_INLINE void poly_row_at(const float* inner, int padded, const PolyValues& k, float* out) {
  switch (k.degree) {
    case 1:
      return poly_row_of<1, Clamp>(inner, padded, k, out);
    case 2:
      return poly_row_of<2, Clamp>(inner, padded, k, out);
    case 3:
      return poly_row_of<3, Clamp>(inner, padded, k, out);
    case 4:
      return poly_row_of<4, Clamp>(inner, padded, k, out);
    case 5:
      return poly_row_of<5, Clamp>(inner, padded, k, out);
    case 6:
      return poly_row_of<6, Clamp>(inner, padded, k, out);
    case 7:
      return poly_row_of<7, Clamp>(inner, padded, k, out);
    case 8:
      return poly_row_of<8, Clamp>(inner, padded, k, out);
    case 9:
      return poly_row_of<9, Clamp>(inner, padded, k, out);
    default:
      return poly_row_of<0, Clamp>(inner, padded, k, out);
  }
}

// out = (clamp(g s + b, limit))^degree for a padded row of inner products s.
static void poly_row(const float* inner, int padded, const PolyValues& k, float* out) {
  if (k.limit < HUGE_VALF)
    poly_row_at<true>(inner, padded, k, out);
  else
    poly_row_at<false>(inner, padded, k, out);
}

// e^x for x in [-87, 0], relative error below 2e-7; e^0 is exactly 1.
SUREWOOD_INLINE F32 exp_negative(F32 x) {
  const F32 shift = splat<F32>(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  F32 turns = (x * splat<F32>(1.44269504f) + shift) - shift;
  F32 r = (x - turns * splat<F32>(0.693359375f)) - turns * splat<F32>(-2.12194440e-4f);
  F32 p = splat<F32>(1.0f / 720.0f);
  p = p * r + splat<F32>(1.0f / 120.0f);
  p = p * r + splat<F32>(1.0f / 24.0f);
  p = p * r + splat<F32>(1.0f / 6.0f);
  p = p * r + splat<F32>(0.5f);
  p = p * r + splat<F32>(1.0f);
  p = p * r + splat<F32>(1.0f);
  return p * as_float((to_int(turns) + splat<I32>(127)) << 23);
}

// out = exp(-g |x - x'|^2), the distance from the inner product and the two squared norms.
static void rbf_row(const float* inner, const float* norms, float row_norm, int padded, float gamma, float* out) {
  const F32 norm = splat<F32>(row_norm), two = splat<F32>(2.0f), zero = splat<F32>(0.0f);
  const F32 g = splat<F32>(-gamma), floor = splat<F32>(-87.0f);
  for (int i = 0; i < padded; i += SUREWOOD_LANES) {
    F32 distance = larger((norm + load<F32>(norms + i)) - two * load<F32>(inner + i), zero);
    store(out + i, exp_negative(larger(g * distance, floor)));
  }
}

static void gather_row(const float* row, const std::int32_t* at, int n, float* out) {
  for (int k = 0; k < n; ++k) out[k] = row[at[k]];
}

// Rows times panels of eight packed columns, `Panels` at a time; each element sums over the features in their order.
// Sums are many enough that additions do not wait for each other.
template <int Rows, int Panels>
SUREWOOD_INLINE void product_panels(const double* const* x, const double* panels, int d, int n, float* const* out) {
  constexpr int kParts = 8 / SUREWOOD_LANES;
  const std::int64_t next_panel = 8 * static_cast<std::int64_t>(d);
  F64 sums[Rows][Panels][kParts];
  for (int r = 0; r < Rows; ++r)
    for (int p = 0; p < Panels; ++p)
      for (int q = 0; q < kParts; ++q) sums[r][p][q] = splat<F64>(0.0);
  for (int k = 0; k < d; ++k, panels += 8)
    for (int p = 0; p < Panels; ++p)
      for (int q = 0; q < kParts; ++q) {
        const F64 columns = load<F64>(panels + p * next_panel + q * SUREWOOD_LANES);
        for (int r = 0; r < Rows; ++r) sums[r][p][q] = sums[r][p][q] + splat<F64>(x[r][k]) * columns;
      }
  for (int r = 0; r < Rows; ++r)
    for (int p = 0; p < Panels; ++p) {
      float eight[8];
      for (int q = 0; q < kParts; ++q) store(eight + q * SUREWOOD_LANES, narrow(sums[r][p][q]));
      std::memcpy(out[r] + 8 * p, eight, sizeof(float) * (n - 8 * p < 8 ? n - 8 * p : 8));
    }
}

template <int Rows, int Panels>
SUREWOOD_INLINE void product_rows(const double* const* x, const double* panels, int d, int n, float* const* out) {
  float* target[Rows];
  for (int c = 0; c < n; c += 8 * Panels) {
    for (int r = 0; r < Rows; ++r) target[r] = out[r] + c;
    const double* from = panels + static_cast<std::int64_t>(c) * d;
    if (n - c > 8 * (Panels - 1)) {
      product_panels<Rows, Panels>(x, from, d, n - c, target);
      continue;
    }
    for (int rest = c; rest < n; rest += 8) {
      for (int r = 0; r < Rows; ++r) target[r] = out[r] + rest;
      product_panels<Rows, 1>(x, panels + static_cast<std::int64_t>(rest) * d, d, n - rest, target);
    }
  }
}

static void product_four(const double* const* x, const double* panels, int d, int n, float* const* out) {
  product_rows<4, SUREWOOD_LANES == 8 ? 2 : 1>(x, panels, d, n, out);
}
static void product_one(const double* const* x, const double* panels, int d, int n, float* const* out) {
  product_rows<1, SUREWOOD_LANES == 8 ? 8 : 2>(x, panels, d, n, out);
}

// sums[b] += sum_k values[k] coef[k * width + b]: decision values of all SVMs that share these points.
static void weighted_sums(const float* values, const double* coef, int n, int width, double* sums) {
  if (width == 1) {
    // Eight partial sums, joined in a fixed order: the same total whatever the register width.
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int k = 0;
    for (; k + 8 <= n; k += 8)
      for (int l = 0; l < 8; ++l) part[l] += values[k + l] * coef[k + l];
    for (int l = 0; k + l < n; ++l) part[l] += values[k + l] * coef[k + l];
    sums[0] += ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    return;
  }
  // A block of columns stays in a register while all points pass by; each column sums over them in order.
  int b = 0;
  for (; b + SUREWOOD_LANES <= width; b += SUREWOOD_LANES) {
    F64 sum = load<F64>(sums + b);
    const double* row = coef + b;
    for (int k = 0; k < n; ++k, row += width) sum = sum + splat<F64>(static_cast<double>(values[k])) * load<F64>(row);
    store(sums + b, sum);
  }
  for (; b < width; ++b) {
    double sum = sums[b];
    const double* row = coef + b;
    for (int k = 0; k < n; ++k, row += width) sum = sum + static_cast<double>(values[k]) * *row;
    sums[b] = sum;
  }
}
