"""One row per leaf, consistent with the criterion it explains."""

import numpy as np
import pytest

from surewood.bounds import (
    composite_complexity,
    composite_criterion,
    composite_ledger,
    leaf_log_growth,
    split_log_growth,
    vc_dimension,
)
from surewood.bounds.ledger import path_in_words

COUNTS = {"correct": [60, 30, 5], "errors": [5, 0, 10], "depth": [2, 2, 1], "degree": [1, 0, 3]}
TREE = {"n_features": 4, "n_classes": 3, "max_features": 2}


def test_terms_add_up_to_the_criterion():
    ledger = composite_ledger(**COUNTS, **TREE, gamma_scale=1e-3)
    growth = leaf_log_growth([1, 0, 3], 4, 110, 3)
    A = composite_complexity([2, 2, 1], growth, split_log_growth(110, 2, 4), 110)
    score = composite_criterion([60, 30, 5], [5, 0, 10], A, n_classes=3, gamma_scale=1e-3)
    assert 15 / 110 + ledger.term.sum() == pytest.approx(score)
    assert ledger.log_growth == pytest.approx(growth)


def test_columns_sides_and_active_fraction():
    frame = composite_ledger(**COUNTS, **TREE, gamma_scale=2e-3, paths=["a", "b", "c"]).to_frame()
    assert list(frame.columns) == [
        "depth",
        "path",
        "points",
        "correct",
        "errors",
        "degree",
        "vc_dimension",
        "log_growth",
        "complexity_term",
        "sample_term",
        "term",
        "side",
    ]
    assert frame.index.name == "leaf"
    assert frame["points"].tolist() == [65, 30, 15]
    assert frame["points"].sum() == 110
    assert frame["vc_dimension"].tolist() == vc_dimension(4, np.array([1, 0, 3])).tolist()
    sides = np.where(frame["sample_term"] > frame["complexity_term"], "complexity", "sample")
    assert (frame["side"] == sides).all()
    inert = composite_ledger(**COUNTS, **TREE, gamma_scale=1.0)
    assert inert.active_fraction == 0.0
    assert len(inert) == 3
    assert composite_ledger(**COUNTS, **TREE, gamma_scale=1e-5).active_fraction == 1.0


def test_weighted_counts_stay_fractional():
    ledger = composite_ledger([1.5], [0.25], [0], [1], n_features=2, n_classes=2, max_features=1)
    assert ledger.to_frame()["points"].tolist() == [1.75]


def test_dimensions_beyond_int64_are_kept_exactly():
    ledger = composite_ledger([5, 5], [0, 0], [1, 1], [1, 9], n_features=784, n_classes=2, max_features=28)
    assert ledger.to_frame()["vc_dimension"].tolist() == [785, vc_dimension(784, 9)]


def test_a_hundred_thousand_leaves_are_vectorised():
    rng = np.random.default_rng(0)
    n = 100_000
    ledger = composite_ledger(
        rng.integers(0, 9, n),
        rng.integers(1, 3, n),
        rng.integers(1, 20, n),
        rng.integers(0, 10, n),
        **TREE,
        gamma_scale=1e-4,
    )
    assert ledger.to_frame().shape == (n, 12)


def test_paths_in_words():
    steps = [("age", "<=", 37.123456789), ("sex", "=", "f"), ("job", "not in", {"cook", "clerk"})]
    assert path_in_words(steps) == "age <= 37.1235 and sex = f and job not in {clerk, cook}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"paths": ["a"]}, r"paths must have one entry per leaf \(3\), got 1"),
        ({"depth": [1, 2]}, "depth has 2"),
        ({"gamma_scale": 0.0}, "gamma_scale must be a finite number > 0"),
        (
            {"correct": [0, 0, 0], "errors": [0, 0, 0]},
            "correct and errors together must be a finite number > 0",
        ),
        ({"max_features": 5}, "max_features must be <= n_features=4, got 5"),
    ],
)
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        composite_ledger(**(COUNTS | TREE | change))
