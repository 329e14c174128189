"""`groups=` in `fit`: what holds rows out holds out whole groups, and new groups are predicted honestly."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import surewood
from surewood.mixture.weights import mixture_weights

N_GROUPS, SIZE = 40, 5
rng = np.random.default_rng(3)
GROUP = np.repeat(np.arange(N_GROUPS), SIZE)
Y = rng.permutation(np.arange(N_GROUPS) % 2)[GROUP]
#: Rows of a group are near each other and far from all others; their label is the group's, and chance.
X = rng.standard_normal((N_GROUPS, 3))[GROUP] + 1e-3 * rng.standard_normal((N_GROUPS * SIZE, 3))
NAMES = np.array([f"patient {g}" for g in GROUP])

MODELS = {
    "BinnedForestClassifier": {"n_estimators": 40, "oob_score": True, "calibrate": True},
    "BoostedTreesClassifier": {"n_estimators": 30},
    "RandomCompositeForestClassifier": {"n_estimators": 20},
    "MarginDeepForestClassifier": {"n_estimators": 20, "max_layers": 1},
    "CascadeForestClassifier": {"n_estimators": 10, "max_layers": 1},
    "DeepCascadeSVMClassifier": {"max_leaves": 1},
    "DeepCascadeSVMClassifierCV": {"max_leaves": 1, "degrees": (3,), "cv": 3},
    "RandomCompositeForestClassifierCV": {"n_estimators": 10, "max_depth": (1,), "degrees": (3,), "C": 100.0},
    "SurewoodClassifier": {"n_estimators": 15, "members": ["random_forest", "boosted_trees"]},
}


def held_out_error(model) -> float:
    """The error on held-out rows, whatever the family calls it."""
    if hasattr(model, "oob_score_"):
        return 1.0 - model.oob_score_
    if hasattr(model, "best_score_"):
        return 1.0 - model.best_score_
    if hasattr(model, "out_of_fold_"):
        return model.out_of_fold_.error
    if hasattr(model, "held_out_scores_"):
        return float(np.mean(model.held_out_scores_.argmax(axis=1) != Y))
    return model.held_out_error_


@pytest.mark.parametrize("name", MODELS)
def test_held_out_rows_know_nothing_of_their_group(name):
    make = getattr(surewood, name)
    errors = {}
    for groups in (None, NAMES):
        model = make(random_state=0, **MODELS[name]).fit(X, Y, groups=groups)
        errors[groups is None] = held_out_error(model)
    assert errors[True] < 0.15
    assert errors[False] > 0.3


@pytest.mark.parametrize(
    "model", [surewood.PolySVC(degree=3), surewood.DeepCascadeClassifier(max_leaves=1, random_state=0)]
)
def test_probabilities_are_less_certain_of_new_groups(model):
    sure = [model.fit(X, Y, groups=g).predict_proba(X).max(axis=1).mean() for g in (None, NAMES)]
    assert sure[1] < sure[0] - 0.1


@pytest.mark.parametrize("name", ["SurewoodClassifier", "MarginDeepForestClassifier"])
def test_order_of_rows_and_names_of_groups_change_nothing(name):
    make, order = getattr(surewood, name), np.random.default_rng(0).permutation(len(Y))
    first = make(random_state=0, **MODELS[name]).fit(X, Y, groups=NAMES)
    second = make(random_state=0, **MODELS[name]).fit(X[order], Y[order], groups=NAMES[order])
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_splitters_receive_groups():
    model = surewood.CascadeForestClassifier(5, max_layers=1, cv=GroupKFold(4), random_state=0)
    assert held_out_error(model.fit(X, Y, groups=GROUP)) > 0.3
    with pytest.raises(ValueError, match=r"^cv=GroupKFold needs groups: give fit groups=, one per row\.$"):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (
            GROUP[:-1],
            ValueError,
            r"^groups must have one label per row, shape \(200,\), got shape \(199,\)\.$",
        ),
        (
            np.where(GROUP == 3, np.nan, GROUP),
            ValueError,
            r"^groups has missing labels; every row needs one\.$",
        ),
        (
            np.zeros(200),
            ValueError,
            r"^groups has one group only; at least two are needed to hold one out\.$",
        ),
        ([*GROUP[:-1].tolist(), "x"], TypeError, r"^groups mixes labels of several types; make all of them "),
    ],
)
def test_groups_that_cannot_be_used(groups, error, message):
    with pytest.raises(error, match=message):
        surewood.BinnedForestClassifier(2).fit(X, Y, groups=groups)


def test_votes_without_a_holdout_are_of_rows():
    with pytest.raises(ValueError, match=r"^certifiable=True guarantees votes on independent rows"):
        surewood.BinnedForestClassifier(2, certifiable=True).fit(X, Y, groups=GROUP)


def test_members_are_dropped_later_where_rows_come_in_groups():
    y = np.zeros(1000, dtype=np.int32)
    members = [np.tile([p, 1 - p], (1000, 1)) for p in (0.8, 0.6)]
    of_rows, of_groups = (mixture_weights(members, y, None, g) for g in (None, np.arange(1000) % 20))
    assert of_rows.tolist() == [1.0, 0.0]
    assert of_groups[1] > 0.1
