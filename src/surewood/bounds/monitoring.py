r"""Is it still true? Evidence that accumulates row by row (theory.md §11.6).

`ErrorEvidence` tests "the error is at most u" with labels: the capital
:math:`K_t=\mathrm{mean}_\lambda\prod_i(1+\lambda(Z_i-u))` is an e-process, so it may be looked at after every
row and an alarm at :math:`1/\alpha` is false with probability at most :math:`\alpha`.
`error_sequence` inverts the same mixture: limits of the error that hold at all times together.
`ShiftEvidence` tests without labels whether new rows look like the holdout's: conformal p-values, ranks among
the holdout's scores **and all scores seen since**, are independent and uniform under exchangeability, and
small ones are bet on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surewood._arrays import Floats

from . import _arguments as check

# Bets as fractions of the largest one, 1/u. Against an error of e the best one is (e - u)/(1 - u): equal
# steps from 0.05 on could never win where a certified error of 1 % doubles, so the steps are geometric.
_FRACTIONS = np.geomspace(0.002, 0.95, 24)
_EXPONENTS = (np.arange(32) + 0.5) / 32.0  # powers of p-values that are mixed
_BLOCK = 4096  # rows whose capital is computed at once
_RANKED = 256  # rows that are ranked against each other at once
_STEPS = 10_000  # scores are rounded to multiples of 1/_STEPS


@dataclass
class ErrorEvidence:
    """Capital against "the expected loss is at most `at_most`", one factor per labeled row (§11.6).

    Parameters
    ----------
    at_most : float
        The certified value, in (0, 1).
    log_capital : array, optional
        State to resume from, one entry per bet.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds.monitoring import ErrorEvidence
    >>> evidence, alarm = ErrorEvidence(0.1), np.log(20)
    >>> quiet, loud = evidence.update(np.arange(100) % 10 == 0), evidence.update(np.arange(100) % 2 == 0)
    >>> bool(quiet.max() < alarm), bool(loud[-1] > alarm)
    (True, True)
    """

    at_most: float
    log_capital: Floats = field(default_factory=lambda: np.zeros(_FRACTIONS.size))

    def __post_init__(self) -> None:
        check.open_unit(self.at_most, "at_most")
        self.log_capital = check.finite(self.log_capital, "log_capital", ndim=1).copy()
        if self.log_capital.shape != _FRACTIONS.shape:
            raise ValueError(f"log_capital must have {_FRACTIONS.size} entries, got {self.log_capital.size}")

    def update(self, losses: ArrayLike) -> Floats:
        """Log of the mean capital after each of the next losses (in [0, 1])."""
        z = check.unit(losses, "losses", ndim=1)
        lost, won = np.log1p(_FRACTIONS * (1.0 - self.at_most) / self.at_most), np.log1p(-_FRACTIONS)
        counted = bool(np.isin(z, (0.0, 1.0)).all())  # then two values of each factor suffice
        out = np.empty(z.size)
        for start in range(0, z.size, _BLOCK):
            block = z[start : start + _BLOCK]
            if counted:
                errors = np.cumsum(block)[:, None]
                path = self.log_capital + errors * (lost - won) + np.arange(1, block.size + 1)[:, None] * won
            else:
                factors = np.log1p(_FRACTIONS * (block[:, None] - self.at_most) / self.at_most)
                path = self.log_capital + np.cumsum(factors, axis=0)
            self.log_capital = path[-1].copy()
            out[start : start + block.size] = _log_mean(path)
        return out


def _log_mean(log_values: Floats) -> Floats:
    largest = log_values.max(axis=-1)
    return np.asarray(largest + np.log(np.exp(log_values - largest[..., None]).mean(axis=-1)))


def error_sequence(errors: int, n: int, *, alpha: float = 0.05) -> tuple[float, float]:
    """Limits of the error after `n` rows that hold at all times together (§11.6).

    Each side inverts the mixture of :class:`ErrorEvidence` at alpha/2. Valid for errors counted as 0 or 1
    since one fixed start, however often one looks.

    Examples
    --------
    >>> from surewood.bounds import error_sequence
    >>> low, high = error_sequence(30, 1000)
    >>> round(low, 3), round(high, 3)
    (0.015, 0.052)
    """
    n, k = check.count(n, "n"), check.count(errors, "errors")
    if k > n:
        raise ValueError(f"errors must be <= n={n}, got {k}")
    target = -np.log(check.open_unit(alpha, "alpha") / 2.0)
    return _lowest_mean(k, n, target), 1.0 - _lowest_mean(n - k, n, target)


def _lowest_mean(k: int, n: int, target: float) -> float:
    """Largest u, from below, that the capital rejects as too small a mean of k ones among n values."""
    low, high = 0.0, 1.0
    for _ in range(60):
        u = 0.5 * (low + high)
        log_capital = k * np.log1p(_FRACTIONS * (1.0 - u) / u) + (n - k) * np.log1p(-_FRACTIONS)
        low, high = (u, high) if _log_mean(log_capital) >= target else (low, u)
    return low


class ShiftEvidence:
    """Capital against "these rows look like the holdout's", without labels (§11.6).

    Scores are rounded to multiples of 0.0001, which keeps the state small; a keyed uniform number decides
    among equal ones, so the p-values stay independent and uniform.

    Parameters
    ----------
    holdout_scores : array of shape (n,)
        Scores of the holdout rows, in [0, 1]; a small score is a strange row.
    counts : array of int, optional
        State to resume from instead of `holdout_scores`: rows per rounded score, seen so far.
    n_seen, log_p_sum : int and float
        State to resume from: rows since the holdout and the sum of the logarithms of their p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from surewood.bounds.monitoring import ShiftEvidence
    >>> rng = np.random.default_rng(0)
    >>> evidence = ShiftEvidence(rng.random(500))
    >>> alike = evidence.update(rng.random(300), rng.random(300))
    >>> shifted = evidence.update(0.3 * rng.random(300), rng.random(300))
    >>> bool(alike.max() < np.log(20)), bool(shifted.max() > np.log(20))
    (True, True)
    """

    def __init__(
        self,
        holdout_scores: ArrayLike = (),
        *,
        counts: ArrayLike | None = None,
        n_seen: int = 0,
        log_p_sum: float = 0.0,
    ) -> None:
        if counts is None:
            rounded = _rounded(check.unit(holdout_scores, "holdout_scores", ndim=1))
            self.counts = np.bincount(rounded, minlength=_STEPS + 1)
        else:
            self.counts = check.counts(counts, "counts").copy()
            if self.counts.size != _STEPS + 1:
                raise ValueError(f"counts must have {_STEPS + 1} entries, got {self.counts.size}")
        self.n_seen, self.log_p_sum = check.count(n_seen, "n_seen"), float(log_p_sum)

    def p_values(self, scores: ArrayLike, uniforms: ArrayLike) -> Floats:
        """Rank of each score among the holdout's and all seen since, itself included; uniforms break ties."""
        new = _rounded(check.unit(scores, "scores", ndim=1))
        ties = check.unit(uniforms, "uniforms", ndim=1)
        check.same_length(scores=new, uniforms=ties)
        p, seen = np.empty(new.size), int(self.counts.sum())
        earlier = np.tri(_RANKED, k=-1, dtype=bool)
        for start in range(0, new.size, _RANKED):
            block = new[start : start + _RANKED]
            among = earlier[: block.size, : block.size]
            own = self.counts[block]
            below = np.cumsum(self.counts)[block] - own + ((block < block[:, None]) & among).sum(axis=1)
            equal = own + 1 + ((block == block[:, None]) & among).sum(axis=1)
            total = seen + start + np.arange(1, block.size + 1)
            p[start : start + block.size] = (below + ties[start : start + block.size] * equal) / total
            self.counts += np.bincount(block, minlength=_STEPS + 1)
        return p

    def update(self, scores: ArrayLike, uniforms: ArrayLike) -> Floats:
        """Log of the mixed capital after each of the next scores, betting on small p-values."""
        p = np.maximum(self.p_values(scores, uniforms), 1e-300)
        sums = self.log_p_sum + np.cumsum(np.log(p))
        counts = self.n_seen + np.arange(1, p.size + 1)
        if p.size:
            self.n_seen, self.log_p_sum = int(counts[-1]), float(sums[-1])
        out = np.empty(p.size)
        for start in range(0, p.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            out[rows] = _log_mean(
                counts[rows, None] * np.log(_EXPONENTS) + sums[rows, None] * (_EXPONENTS - 1.0)
            )
        return out


def _rounded(scores: Floats) -> NDArray[np.uint16]:
    """Scores as whole numbers."""
    return np.rint(scores * _STEPS).astype(np.uint16)
