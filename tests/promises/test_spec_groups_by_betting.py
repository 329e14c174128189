"""§11.3: the limit of a mean per group, written down again from the specification."""

import math

import numpy as np

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


def rejects(values, u, delta):
    """Whether E Z >= u is rejected by the capital process of (11.3)."""
    n, capital, most = len(values), 1.0, 1.0
    squares, seen = 0.0, []
    for i, z in enumerate(values, start=1):
        variance = (0.25 + squares) / i
        wager = min(math.sqrt(2 * math.log(1 / delta) / (variance * n)), 0.5 / (1 - u) if u < 1 else math.inf)
        capital *= 1 + wager * (u - z)
        most = max(most, capital)
        seen.append(z)
        squares += (z - (0.5 + sum(seen)) / (len(seen) + 1)) ** 2
    return most >= 1 / delta


def test_the_limit_is_the_largest_value_that_is_not_rejected():
    X, y = draw(500, 0)
    model = nearest_neighbour(X, y)
    new, labels = draw(1500, 1)
    groups = np.repeat(np.arange(150), 10)
    certificate = certify(model, new, labels, X_train=X, groups=groups)
    wrong = (model.predict(new) != labels).reshape(150, 10).mean(axis=1)
    found = certificate.best.value
    # The order of the groups is a fixed permutation we need not know: limits of 40 orders surround it.
    rng = np.random.default_rng(0)
    limits = []
    for _ in range(40):
        order = rng.permutation(wrong)
        grid = [u / 1000 for u in range(int(1000 * wrong.mean()), 1001)]
        limits.append(next(u for u in grid if rejects(order, u, 0.05)))
    assert min(limits) - 0.003 <= found <= max(limits) + 0.003
    assert found > wrong.mean()
