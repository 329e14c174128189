"""From `random_state` to the one integer that all randomness of a fit is derived from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from surewood.tables.mixing import splitmix64

__all__ = ["draw_seed", "splitmix64"]


def draw_seed(random_state: Any) -> int:
    """A seed in [0, 2^31 - 1), drawn from `random_state` once per fit.

    Examples
    --------
    >>> draw_seed(0) == draw_seed(0), draw_seed(0) == draw_seed(1)
    (True, False)
    """
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
