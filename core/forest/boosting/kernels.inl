// Body of the kernels; included by kernels.cpp once per instruction set, inside a namespace of its own.

SUREWOOD_INLINE double exponential(double x) {
  // x = n ln 2 + r: 2^n is added to the exponent of a polynomial in r.
  constexpr double kRound = 0x1.8p52, kLog2E = 1.4426950408889634, kHigh = 0x1.62e42fee00000p-1,
                   kLow = 0x1.a39ef35793c76p-33;
  const double shifted = x * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = (x - n * kHigh) - n * kLow;
  double p = 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  std::uint64_t bits, shift;
  std::memcpy(&bits, &p, 8);
  std::memcpy(&shift, &shifted, 8);
  bits += shift << 52;
  std::memcpy(&p, &bits, 8);
  return p;
}

constexpr double kLargest = 600.0;  // of an exponent

void logistic(const double* score, std::size_t n, float* probability) {
  for (std::size_t i = 0; i < n; ++i) {
    double x = -score[i];
    x = x > kLargest ? kLargest : x;
    x = x < -kLargest ? -kLargest : x;
    probability[i] = static_cast<float>(1.0 / (1.0 + exponential(x)));
  }
}

void softmax(const double* score, std::size_t n, std::size_t stride, std::uint32_t n_classes, double* scratch,
             float* probability) {
  double* largest = scratch;
  double* sum = scratch + n;
  double* power = scratch + 2 * n;
  for (std::size_t i = 0; i < n; ++i) largest[i] = score[i];
  for (std::uint32_t k = 1; k < n_classes; ++k)
    for (std::size_t i = 0; i < n; ++i)
      largest[i] = score[k * stride + i] > largest[i] ? score[k * stride + i] : largest[i];
  for (std::size_t i = 0; i < n; ++i) sum[i] = 0.0;
  for (std::uint32_t k = 0; k < n_classes; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      double x = score[k * stride + i] - largest[i];
      x = x < -kLargest ? -kLargest : x;
      power[k * n + i] = exponential(x);
      sum[i] += power[k * n + i];
    }
  for (std::uint32_t k = 0; k < n_classes; ++k)
    for (std::size_t i = 0; i < n; ++i) probability[k * stride + i] = static_cast<float>(power[k * n + i] / sum[i]);
}

void project_gradients(const float* probability, std::size_t stride, const std::uint16_t* label, std::size_t n,
                       std::uint32_t n_classes, const double* direction, int n_directions, double (*gradient)[kBlock],
                       double* hessian) {
  double residual[kBlock];
  for (std::size_t i = 0; i < n; ++i) hessian[i] = 0.0;
  for (int j = 0; j < n_directions; ++j)
    for (std::size_t i = 0; i < n; ++i) gradient[j][i] = 0.0;
  for (std::uint32_t k = 0; k < n_classes; ++k, probability += stride) {
    for (std::size_t i = 0; i < n; ++i) {
      const double p = probability[i];
      hessian[i] += 0.5 * p * (1.0 - p);
      residual[i] = p - (label[i] == k ? 1.0 : 0.0);
    }
    for (int j = 0; j < n_directions; ++j) {
      const double factor = direction[std::size_t(j) * n_classes + k];
      if (factor != 0.0)
        for (std::size_t i = 0; i < n; ++i) gradient[j][i] += factor * residual[i];
    }
  }
}

// The low bits of x + kToInteger are the integer nearest to x.
constexpr double kToInteger = 0x1.8p52;

SUREWOOD_INLINE std::int64_t nearest(double x) {
  const double shifted = x + kToInteger, zero = kToInteger;
  std::int64_t bits, base;
  std::memcpy(&bits, &shifted, 8);
  std::memcpy(&base, &zero, 8);
  return bits - base;
}

void round_to_integers(const double* value, const double* scale, const double* shift, std::size_t n, std::size_t stride,
                       std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i * stride] = static_cast<std::int32_t>(nearest(value[i] * scale[i] + shift[i]));
}

void newton_terms(const float* probability, const std::uint16_t* label, std::uint16_t one, const double* scale,
                  std::size_t n, std::int64_t* gradient, std::int64_t* hessian) {
  for (std::size_t i = 0; i < n; ++i) {
    const double p = probability[i];
    gradient[i] = nearest((p - (label[i] == one ? 1.0 : 0.0)) * scale[i]);
    hessian[i] = nearest(p * (1.0 - p) * scale[i]);
  }
}

template <int kWidth, int kColumns>
SUREWOOD_INLINE void fill_columns(const std::uint32_t* rows, const std::int32_t* gradients, std::size_t n,
                                  const std::uint8_t* const* codes, std::int32_t* const* cells) {
  const std::uint8_t* code[kColumns];
  std::int32_t* cell[kColumns];
  for (int j = 0; j < kColumns; ++j) {
    code[j] = codes[j];
    cell[j] = cells[j];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = rows[i];
    std::int32_t added[kWidth], sum[kWidth];  // copies: compilers see that a cell is no gradient and add vectors
    copy_cell(kWidth, gradients + i * kWidth, added);
    for (int j = 0; j < kColumns; ++j) {
      std::int32_t* at = cell[j] + std::size_t(code[j][row]) * kWidth;
      copy_cell(kWidth, at, sum);
      for (int k = 0; k < kWidth; ++k) sum[k] += added[k];
      copy_cell(kWidth, sum, at);
    }
  }
}

template <int kWidth>
SUREWOOD_INLINE void fill_width(const std::uint32_t* rows, const std::int32_t* gradients, std::size_t n,
                                const std::uint8_t* const* codes, std::int32_t* const* cells, std::size_t n_columns) {
  std::size_t j = 0;
  for (; j + 4 <= n_columns; j += 4) fill_columns<kWidth, 4>(rows, gradients, n, codes + j, cells + j);
  for (; j < n_columns; ++j) fill_columns<kWidth, 1>(rows, gradients, n, codes + j, cells + j);
}

void fill(int width, const std::uint32_t* rows, const std::int32_t* gradients, std::size_t n,
          const std::uint8_t* const* codes, std::int32_t* const* cells, std::size_t n_columns) {
  if (width == kNarrow) return fill_width<kNarrow>(rows, gradients, n, codes, cells, n_columns);
  fill_width<kWide>(rows, gradients, n, codes, cells, n_columns);
}

template <int kWidth>
SUREWOOD_INLINE void add_gains_width(const std::int32_t* cells, int n_cuts, const std::int32_t* missing,
                                     const std::int32_t* total, const GainRule& rule, double* gain) {
  constexpr int kHessian = hessian_at(kWidth), kCount = count_at(kWidth);
  std::int32_t left[kWidth][256];
  std::int32_t sum[kWidth];
  for (int k = 0; k < kWidth; ++k) sum[k] = missing ? missing[k] : 0;
  for (int c = 0; c < n_cuts; ++c)
    for (int k = 0; k < kWidth; ++k) left[k][c] = sum[k] += cells[c * kWidth + k];
  double left_square[256], right_square[256];
  for (int c = 0; c < n_cuts; ++c) left_square[c] = right_square[c] = 0.0;
  double parent = 0.0;
  for (int k = 0; k < rule.n_directions; ++k) {
    parent += double(total[k]) * double(total[k]);
    for (int c = 0; c < n_cuts; ++c) {
      const double l = left[k][c], r = total[k] - left[k][c];
      left_square[c] += l * l;
      right_square[c] += r * r;
    }
  }
  parent = parent / (double(total[kHessian]) + rule.l2);
  const std::int32_t rows = total[kCount], least = rule.min_rows;
  for (int c = 0; c < n_cuts; ++c) {
    const double l = left[kHessian][c], r = total[kHessian] - left[kHessian][c];
    const double all = (left_square[c] / (l + rule.l2) + right_square[c] / (r + rule.l2)) - parent;
    const bool large = (left[kCount][c] >= least) & (rows - left[kCount][c] >= least) & (l >= rule.min_hessian) &
                       (r >= rule.min_hessian);
    left_square[c] = large ? all : 0.0;
  }
  if (rule.monotone) {
    const double sign = rule.monotone;
    for (int c = 0; c < n_cuts; ++c) {  // the values of both sides are -gradient / (hessian + l2)
      const double l = left[kHessian][c] + rule.l2, r = (total[kHessian] - left[kHessian][c]) + rule.l2;
      const double falls = sign * (double(total[0] - left[0][c]) * l - double(left[0][c]) * r);
      left_square[c] = falls > 0.0 ? 0.0 : left_square[c];
    }
  }
  for (int c = 0; c < n_cuts; ++c) gain[c] += left_square[c];
}

void add_gains(int width, const std::int32_t* cells, int n_cuts, const std::int32_t* missing, const std::int32_t* total,
               const GainRule& rule, double* gain) {
  if (width == kNarrow) return add_gains_width<kNarrow>(cells, n_cuts, missing, total, rule, gain);
  add_gains_width<kWide>(cells, n_cuts, missing, total, rule, gain);
}

void push_bit(const std::uint8_t* codes, std::size_t n, std::uint32_t word, std::uint8_t* leaf) {
  const auto missing_left = static_cast<std::uint8_t>((word >> 1) & 1u), test = static_cast<std::uint8_t>(word >> 2);
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint8_t>(codes[i] + missing_left);
    leaf[i] = static_cast<std::uint8_t>(leaf[i] + leaf[i] + (code > test));
  }
}
