"""Which rows count: copies of training rows do not, equal rows count once, groups are units."""

import numpy as np
import pandas as pd
import pytest

from surewood.bounds import Method, betting_upper_limit, error_limit
from surewood.certify.counting import count_rows
from surewood.certify.training_rows import TrainingRows


class Unknown:
    """A model that remembers nothing."""


def rows(n=60, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def counted(X, X_train=None, **options):
    return count_rows(X, len(X), TrainingRows(Unknown(), X_train), **options)


def test_clean_rows_all_count_once():
    result = counted(rows(), rows(40, 1))
    assert (result.n_units, result.n_copies, result.rule) == (60, 0, "exclude")
    assert sorted(result.rows) == list(range(60))
    assert result.facts == ()
    assert result.population == "new rows that are not copies of training rows"
    assert counted(rows()).population == ""


def test_copies_are_left_out_also_when_shaken_by_a_billionth():
    X = rows()
    shaken = X[:20] * (1 + 1e-9)
    result = counted(X, shaken)
    assert sorted(result.rows) == list(range(20, 60))
    assert result.facts == (
        "Warning: 20 of 60 holdout rows (33 %) are copies of training rows; not counted.",
    )
    assert not counted(X, shaken[:12]).facts[0].startswith("Warning")


def test_equal_rows_are_one_unit_and_the_order_depends_on_contents_alone():
    X = rows(10)
    result = counted(np.repeat(X, 5, axis=0))
    assert (result.n_units, result.unit_name) == (10, "contents")
    shuffled = np.random.default_rng(3).permutation(10)
    assert (X[counted(X).rows] == X[shuffled][counted(X[shuffled]).rows]).all()


def test_limits_of_units():
    X = np.repeat(rows(50), 2, axis=0)
    result = counted(X)
    loss = np.zeros(100)
    loss[:4] = 1.0
    means = result.means(loss)
    assert sorted(means)[-2:] == [1.0, 1.0]
    limit = result.upper(loss, delta=0.05)
    assert limit.value == error_limit(2, 50, delta=0.05)
    assert (limit.n, limit.method) == (50, Method.HOLDOUT)
    half = np.tile([0.0, 1.0], 50)  # every content has both labels
    split = np.empty(100)
    split[:] = half[np.argsort(np.argsort(result.rows))]
    assert result.upper(split, delta=0.05).value < 0.75


def test_groups_are_bounded_by_betting_on_their_means():
    X = rows(90)
    result = counted(X, groups=np.arange(90) % 30)
    loss = (np.arange(90) < 9).astype(float)
    means = result.means(loss)
    limit = result.upper(loss, delta=0.1)
    assert (limit.n, limit.method) == (30, Method.BETTING)
    assert limit.value == betting_upper_limit(means, delta=0.1)
    assert result.population == "rows of new groups"


def test_discrete_columns_are_natural_unless_copies_are_too_many():
    rng = np.random.default_rng(0)
    X, X_train = rng.integers(0, 3, (300, 3)), rng.integers(0, 3, (500, 3))
    natural = counted(X, X_train)
    assert (natural.rule, natural.n_units) == ("natural", 300)
    assert 'copies="natural"' in natural.facts[0]
    wide = rng.integers(0, 50, (400, 3))
    attacked = counted(wide, wide)  # three columns of fifty values hardly ever repeat by chance
    assert (attacked.rule, attacked.rows.size) == ("exclude", 0)
    assert counted(X, X_train, copies="exclude").rule == "exclude"
    half = np.r_[rows(), rows() + 1]
    assert counted(half, rows(), copies="natural").rows.size == 120
    assert counted(rows(), rows(), copies="natural").rows.size == 0  # a statement that cannot be true


def test_categories_and_booleans_are_discrete_but_numbers_are_not():
    frame = pd.DataFrame({"a": list("xyz") * 20, "b": [True, False] * 30})
    assert counted(frame).rule == "natural"
    assert counted(frame.assign(c=np.arange(60) / 7)).rule == "exclude"
    assert counted(frame.assign(c=np.arange(60))).rule == "exclude"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: counted(rows(), copies="all"), "copies must be one of auto, natural, exclude, got 'all'"),
        (lambda: counted(rows(), rows()[:, :2]), "X_train must have the columns of X, got 2 against 3"),
        (
            lambda: counted(
                pd.DataFrame(rows(), columns=list("abc")), pd.DataFrame(rows(), columns=list("abd"))
            ),
            "X_train must have the columns of X: the table lacks the column 'd'",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
