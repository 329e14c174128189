"""The chain: which points go on, and the way of training rows in prediction as in training [D-41]."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier
from surewood.cascade.chain import (
    Cascade,
    CascadeNode,
    as_fractions,
    class_columns,
    distance_of,
    divide,
    near_tie,
    points_to_continue,
    settled,
)
from tests.cascade.reference import random_table

KERNELS, MULTICLASS, PENALTIES = ("poly", "homogeneous", "rbf"), ("one_vs_rest", "native"), (1.0, 100.0, 0.1)


@given(i=st.integers(1, 10), n=st.integers(1, 5000))
def test_rounding_is_the_integer_rule_of_the_theory(i, n):
    assert points_to_continue(as_fractions([i / 10])[0], n) == (2 * i * n + 10) // 20


def test_fractional_totals_are_not_rounded():
    assert points_to_continue(Fraction(1, 2), 2.5) == 1.25


def test_a_fraction_of_one_is_allowed_and_repeats_are_dropped():
    assert as_fractions([1, 0.5, 0.5, Fraction(1, 3)]) == (Fraction(1, 3), Fraction(1, 2), Fraction(1))


@pytest.mark.parametrize(
    ("distance", "fraction", "n_points", "threshold"),
    [
        ([0.0, 1.0, 1.0, 1.0, 4.0], Fraction(2, 5), 4, 2.5),  # ties go on together, up to a midpoint
        ([4.0, 1.0, 0.0, 1.0, 1.0], Fraction(2, 5), 4, 2.5),
        ([1.0, 1.0 + 3e-14, 1.0 + 5e-14, 2.0], Fraction(1, 4), 3, 1.5),  # near-ties too
        ([1.0, 1.0 + 1e-8, 2.0], Fraction(1, 3), 1, 1.0 + 5e-9),
        ([0.0, np.inf, np.inf], Fraction(1, 3), 1, 1.0),
    ],
)
def test_points_nearest_to_the_boundary_go_on(distance, fraction, n_points, threshold):
    distance = np.array(distance)
    goes_on, limit = divide(distance, np.ones(len(distance)), fraction)
    assert goes_on.sum() == n_points
    assert limit == pytest.approx(threshold, abs=1e-9)
    np.testing.assert_array_equal(goes_on, distance <= limit)


@pytest.mark.parametrize(
    ("distance", "fraction"),
    [
        ([0.0, 1.0, 4.0], Fraction(1)),
        ([2.0, 2.0, 2.0], Fraction(1, 3)),
        ([0.0, 1.0, 2.0], Fraction(1, 100)),
        ([0.0, np.inf, np.inf], Fraction(2, 3)),
    ],
)
def test_a_split_needs_points_on_both_sides(distance, fraction):
    assert divide(np.array(distance), np.ones(3), fraction) is None


@given(
    st.lists(st.floats(0.0, 1e6), min_size=2, max_size=30),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32 - 1),
)
def test_rounding_errors_never_move_a_point_across_a_threshold(values, fraction, seed):
    distance = np.array(values)
    divided = divide(distance, np.ones(len(distance)), as_fractions([fraction])[0])
    if divided is not None:
        goes_on, threshold = divided
        error = np.random.default_rng(seed).uniform(-1e-10, 1e-10, len(distance)) * distance.max()
        np.testing.assert_array_equal(distance + error <= threshold, goes_on)


def test_weights_count_as_repeated_points():
    distance, weight = np.array([0.0, 1.0, 2.0]), np.array([1, 3, 2])
    weighted = divide(distance, weight.astype(float), Fraction(1, 2))
    repeated = divide(np.repeat(distance, weight), np.ones(6), Fraction(1, 2))
    assert weighted[1] == repeated[1]
    np.testing.assert_array_equal(np.repeat(weighted[0], weight), repeated[0])


def test_scores_near_a_decision_boundary_are_ties():
    np.testing.assert_array_equal(
        settled(np.array([-1e-12, 1e-12, 3.0]), near_tie(np.array([3.0]))), [0, 0, 3]
    )
    scores = settled(np.array([[1.0, 1.0 + 1e-12, 0.5]]), 1e-9)
    assert scores.argmax(axis=1) == 0
    np.testing.assert_array_equal(settled(scores, 0.0), scores)


def test_distances_and_scores_per_class():
    np.testing.assert_array_equal(distance_of(np.array([[1.0, 3.0, 2.5], [0.0, 0.0, -1.0]])), [0.5, 0.0])
    np.testing.assert_array_equal(distance_of(np.array([-2.0, 0.5])), [2.0, 0.5])
    decision = np.array([2.0, -1.0])
    np.testing.assert_array_equal(class_columns([decision], 2), [[-1.0, 1.0], [0.5, -0.5]])
    assert class_columns([decision], 1).tolist() == [[0.0], [0.0]]
    assert class_columns([decision] * 3, 3).shape == (2, 3)
    scores = np.zeros((2, 4))
    assert class_columns([scores], 4) is scores


def constant(value, **changes):
    node = {"choice": 0, "degree": 1, "fraction": None, "threshold": -math.inf, "n_support": 0}
    return CascadeNode(**{**node, "plus": 1.0, "minus": 0.0, "predictor": None, "constant": value, **changes})


def random_cascade(seed):
    X, y = random_table(seed)
    leaves = 2 + seed % 3
    model = DeepCascadeSVMClassifier(
        max_leaves=leaves,
        n_leaves=leaves,
        degrees=(1, 2, 3),
        fractions=(0.2, 0.5, 0.8),
        gamma_scale=1e-3,
        C=PENALTIES[seed % 3],
        kernel=KERNELS[(seed // 7) % 3],
        multiclass=MULTICLASS[(seed // 3) % 2],
        calibrate=False,
        random_state=0,
        study={"max_svms": 100},
    )
    try:
        return model.fit(X, y), X, y
    except ValueError:  # some tables have too few distinct points for this many leaves
        return None


def test_counts_of_ledgers_are_counts_by_predict():
    n_cascades = 0
    for seed in range(60):
        fitted = random_cascade(seed)
        if fitted is None:
            continue
        model, X, y = fitted
        exits = model.exits(X, y)
        ledgers = model.ledger()
        ledgers = ledgers if isinstance(ledgers, dict) else {"all": ledgers}
        for search, (name, ledger) in zip(model.search_, ledgers.items()):
            own = exits[exits["cascade"] == name]
            correct = np.rint(np.nan_to_num(own["accuracy"]) * own["points"])
            np.testing.assert_array_equal(own["points"], ledger.correct + ledger.errors, err_msg=str(seed))
            np.testing.assert_array_equal(correct, ledger.correct, err_msg=str(seed))
            np.testing.assert_array_equal(search.plus, ledger.correct, err_msg=str(seed))
            n_cascades += len(ledger) > 1
        if len(model.cascades_) == 1:
            assert (model.predict(X) != y).sum() == ledgers["all"].errors.sum()
    assert n_cascades > 50


def test_counts_of_generic_ledgers_are_counts_by_predict():
    for seed, split in itertools.product(range(1, 6), ("stump", "logistic", "linear_svm")):
        X, y = random_table(seed)
        model = DeepCascadeClassifier(["stump", "linear_svm"], [split], gamma_scale=1e-5, calibrate=False)
        model.fit(X, y)
        leaf, right = model.decision_path(X), model.predict(X) == y
        for k, (plus, minus) in enumerate(zip(model.ledger()["correct"], model.ledger()["errors"])):
            assert (right[leaf == k].sum(), (~right)[leaf == k].sum()) == (plus, minus)


def test_a_point_at_the_threshold_goes_on():
    first = constant(0.5, fraction=0.5, threshold=0.5, n_support=3)
    cascade = Cascade((first, constant(-1.0, n_support=4)), 2)
    found = cascade.evaluate(np.zeros((2, 1)))
    assert found.scores.tolist() == [-1.0, -1.0]
    assert found.leaf.tolist() == [1, 1]
    assert found.work.tolist() == [7, 7]
    assert cascade.evaluate(np.zeros((2, 1)), scale=0.0).leaf.tolist() == [0, 0]
    assert cascade.evaluate(np.zeros((2, 1)), n_leaves=1).leaf.tolist() == [0, 0]
    assert cascade.paths_in_words() == ["|f1| > 0.5", "|f1| <= 0.5"]


def test_constants_of_several_classes():
    node = constant((-0.4, 0.2, -0.8))
    np.testing.assert_array_equal(node.scores(np.zeros((2, 1)), 3), [[-0.4, 0.2, -0.8]] * 2)
    assert Cascade((node,), 3).evaluate(np.zeros((4, 1))).scores.argmax(axis=1).tolist() == [1] * 4
