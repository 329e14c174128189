"""Equal rows that follow each other: a bettor who knows the next row proves anything."""

import numpy as np
import pytest

from surewood.bounds import betting_upper_limit
from surewood.cascade.reject import countable
from surewood.certify import certify
from tests.guarantees.simulate_certify import OneColumn

DRAWS, DELTA = 60, 0.05


def violations(limit_below):
    return sum(limit_below(np.random.default_rng(seed), seed) for seed in range(DRAWS))


def table(rng, seed, n=200):
    """Half of the rows are always right, the other half always wrong; there are two contents."""
    return np.c_[rng.integers(0, 2, n), np.full(n, seed)], np.ones(n, dtype=int)


def test_losses_of_discrete_rows():
    def too_low(rng, seed):
        X, y = table(rng, seed)
        (entry,) = certify(OneColumn(), X, y, claims="brier", delta=DELTA).guarantees
        return entry.value < 0.01**2 + 0.99**2

    assert violations(too_low) <= 9  # of 60 at 0.05: more have probability 0.001


def test_groups_that_share_contents():
    def too_low(rng, seed):
        X, y = table(rng, seed)
        (entry,) = certify(OneColumn(), X, y, groups=np.arange(len(y)) // 2, delta=DELTA).guarantees
        return entry.value < 0.5

    assert violations(too_low) <= 9
    assert betting_upper_limit(np.repeat([0.0, 1.0], 50), delta=DELTA) < 0.5  # what sorting would give


def test_the_order_of_the_file_does_not_matter():
    X, y = table(np.random.default_rng(0), 0)
    y[::3] = 0
    group = np.arange(len(y)) // 2
    shuffled = np.random.default_rng(1).permutation(len(y))
    for options in ({"claims": "brier"}, {"groups": group}):
        other = {name: value[shuffled] if name == "groups" else value for name, value in options.items()}
        one, two = (
            certify(OneColumn(), X, y, **options),
            certify(OneColumn(), X[shuffled], y[shuffled], **other),
        )
        assert one.guarantees[0].value == two.guarantees[0].value


@pytest.mark.parametrize("first", [0, 1])
def test_a_reject_option_does_not_take_the_first_of_equal_rows(first):
    X = np.repeat(np.random.default_rng(0).normal(size=(400, 2)), 2, axis=0)
    counted = countable(X, None).reshape(-1, 2)
    assert (counted.sum(axis=1) == 1).all()
    assert 0.4 < counted[:, first].mean() < 0.6
