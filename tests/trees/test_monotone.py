"""Monotone constraints of forests and of the mixture; those of boosted trees are in test_boosted_trees.py."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from surewood import BinnedForestClassifier, SurewoodClassifier

rng = np.random.default_rng(5)
X = pd.DataFrame(rng.standard_normal((600, 4)), columns=["dose", "age", "noise", "group"])
X["group"] = pd.Categorical(np.where(X["group"] > 0, "p", "q"))
X.loc[rng.random(600) < 0.05, "dose"] = np.nan
P = 1 / (1 + np.exp(-2 * X["dose"].fillna(0) + 1.5 * X["age"] + np.sin(3 * X["noise"])))
Y = (rng.random(600) < P).astype(int)
CONSTRAINTS = {"dose": 1, "age": -1}
TIE = 1e-8  # calibration raises the predicted class this far above an equal one


def steps(model, column: str) -> np.ndarray:
    """Changes of the probability of the second class along a column, other columns as they are."""
    grid = np.linspace(-3, 3, 25)
    rows = pd.concat([X.iloc[:60].assign(**{column: value}) for value in grid], ignore_index=True)
    return np.diff(model.predict_proba(rows)[:, 1].reshape(len(grid), 60), axis=0)


@pytest.mark.parametrize("splitter", ["best", "random", "completely_random"])
@pytest.mark.parametrize("calibrate", [False, "isotonic"])
def test_forests_keep_the_constraints(splitter, calibrate):
    make = lambda cst: BinnedForestClassifier(  # noqa: E731
        40, splitter=splitter, calibrate=calibrate, monotonic_cst=cst, random_state=0
    ).fit(X, Y)
    free, kept = make(None), make(CONSTRAINTS)
    assert steps(free, "dose").min() < -0.01
    assert steps(kept, "dose").min() >= -TIE
    assert steps(kept, "age").max() <= TIE
    assert abs(steps(kept, "noise")).max() > 0.01


def test_constraints_that_are_true_help():
    train, test = slice(0, 300), slice(300, 600)
    losses = [
        log_loss(
            Y[test],
            BinnedForestClassifier(100, monotonic_cst=cst, random_state=0)
            .fit(X[train], Y[train])
            .predict_proba(X[test]),
        )
        for cst in (None, CONSTRAINTS)
    ]
    assert losses[1] < losses[0]


def test_trees_that_were_kept_keep_them_with_more_trees():
    model = BinnedForestClassifier(10, monotonic_cst=CONSTRAINTS, warm_start=True, random_state=0).fit(X, Y)
    more = model.set_params(n_estimators=30).fit(X, Y)
    once = BinnedForestClassifier(30, monotonic_cst=CONSTRAINTS, random_state=0).fit(X, Y)
    assert steps(more, "dose").min() >= -TIE
    np.testing.assert_array_equal(more.predict_proba(X), once.predict_proba(X))


def test_the_mixture_leaves_out_members_that_cannot_keep_them():
    model = SurewoodClassifier(10, monotonic_cst=CONSTRAINTS, random_state=0).fit(X, Y)
    assert steps(model, "dose").min() >= -TIE
    assert steps(model, "age").max() <= TIE
    notes = {record.name: record.note for record in model.members_}
    assert notes["composite_forest"].endswith("it cannot keep monotone constraints")
    assert notes["margin_forest"] == notes["composite_forest"]
    with pytest.raises(ValueError, match=r"^members names 'margin_forest', which cannot keep monotonic_cst"):
        model.set_params(members=["random_forest", "margin_forest"]).fit(X, Y)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"weight": 1}, r"^monotonic_cst names 'weight', which is no column of the table\.$"),
        ({"group": 1}, r"^monotonic_cst constrains 'group', whose categories have no order\.$"),
        ([1, 0], r"^monotonic_cst has 2 entries for a table of 4 columns\.$"),
        ({"dose": 2}, r"^monotonic_cst must be -1, 0 or 1 for each column, got 2 for 'dose'\.$"),
    ],
)
@pytest.mark.parametrize("make", [BinnedForestClassifier, SurewoodClassifier])
def test_constraints_that_cannot_be(make, constraints, message):
    with pytest.raises(ValueError, match=message):
        make(5, monotonic_cst=constraints).fit(X, Y)


def test_more_classes_and_guaranteed_votes_have_no_constraints():
    with pytest.raises(ValueError, match=r"^monotonic_cst needs two classes, the table has 3\.$"):
        BinnedForestClassifier(5, monotonic_cst=CONSTRAINTS).fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match=r"^certifiable=True keeps the votes as they are: use monotonic_cst"):
        BinnedForestClassifier(5, certifiable=True, monotonic_cst=CONSTRAINTS).fit(X, Y)
