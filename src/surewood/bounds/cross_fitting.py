r"""A bound for the average of cross-fitted models, without giving up a row (theory.md §11.9, [D-44]).

K fold models, each a function of the rows outside its fold, and the mean of their probabilities as predictor.
For a loss that is convex in the probabilities and in [0, 1], such as half the Brier score,
:math:`R(\text{mean})\le\frac1K\sum_kR(f_k)`, and by the joint convexity of kl and Jensen over folds
:math:`\mathrm{kl}(\hat L\|\bar R)\le\log(2\sqrt{n'}/\delta)/n'` with n' the fold size. For the 0-1 loss the
hard vote errs at most twice as often as the folds do on average.
"""

from __future__ import annotations

import math

from . import _arguments as check
from .certificates import kl_inverse

_SMALLEST_FOLD = 8  # the moment bound behind log(2 sqrt(n)) holds from here on


def cross_fit_bound(
    mean_loss: float, fold_size: int, *, delta: float = 0.05, n_models: int = 1, convex: bool = True
) -> float:
    """Upper limit of the expected loss of cross-fitted averages (§11.9, [D-44]).

    Parameters
    ----------
    mean_loss : float
        Mean over folds of the mean held-out loss, in [0, 1]: half the Brier score, or the 0-1 error.
    fold_size : int
        Rows in the smallest fold, at least 8.
    delta : float, default=0.05
    n_models : int, default=1
        Settings compared by these held-out losses.
    convex : bool, default=True
        False for the 0-1 loss, which is then bounded by twice the mean.

    Examples
    --------
    >>> from surewood.bounds import cross_fit_bound
    >>> round(cross_fit_bound(0.08, 900), 6)
    0.118446
    """
    n = check.count(fold_size, "fold_size", _SMALLEST_FOLD)
    log_delta = math.log(check.confidence(delta)) - math.log(check.count(n_models, "n_models", 1))
    epsilon = (math.log(2.0 * math.sqrt(n)) - log_delta) / n
    limit = float(kl_inverse(check.unit(mean_loss, "mean_loss"), epsilon))
    return limit if convex else min(1.0, 2.0 * limit)
