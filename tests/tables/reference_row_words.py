"""The slow, obvious words of numbers: what ``core/common/row_words.cpp`` must give, bit for bit."""

import numpy as np

from surewood.tables.mixing import mixed

_LEAST_POWER, _MOST_POWER = -300, 308  # of ten: smaller numbers are rounded like 1e-300
_LEAST_SINGLE, _MOST_SINGLE = 1e-37, 1e38  # numbers that single precision holds in full
_MISSING = np.uint64(0x6E616E)
_INFINITE = np.uint64(0x696E66)
_SCALES = np.array([float(f"1e{-e}") for e in range(_LEAST_POWER, _MOST_POWER + 2)])


def row_words(X, keys, digits=6):
    """Sum over the columns of the mixed words."""
    X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore"):
        cells = [mixed(number_words(column, digits) + key) for column, key in zip(X.T, keys)]
        return np.sum(cells, axis=0, dtype=np.uint64)


def number_words(values, digits=6):
    """Numbers as words that are equal where the numbers agree in so many significant digits.

    A logarithm that is off by a rounding error at a power of ten does no harm: the mantissa is carried.
    """
    size = np.abs(values)
    single = (size > _LEAST_SINGLE) & (size < _MOST_SINGLE)
    # A table that was stored in single precision has the contents of the original.
    size = np.where(single, np.where(single, size, 0.0).astype(np.float32), size)
    top = 10.0**digits
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(size))
        np.clip(power, _LEAST_POWER, _MOST_POWER, out=power)
        place = np.where(np.isnan(power), 0.0, power - _LEAST_POWER).astype(np.intp)
        mantissa = np.rint(size * _SCALES.take(place) * (top / 10.0))
        carried = mantissa >= top
        mantissa = np.where(carried, top / 10.0, mantissa)
        # Below 2^53, so exact; the power is left out of a zero.
        whole = np.where(mantissa > 0.0, mantissa * 1024.0 + (place + carried), 0.0)
        words = whole.astype(np.int64).view(np.uint64)
    words |= (np.signbit(values) & (mantissa > 0.0)).astype(np.uint64) << np.uint64(63)
    odd = ~np.isfinite(values)
    if odd.any():
        words[odd] = np.where(np.isnan(values[odd]), _MISSING, _INFINITE + (values[odd] < 0))
    return words
