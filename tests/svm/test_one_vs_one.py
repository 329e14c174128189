"""Votes, scores and nearest support points of trained SVMs."""

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from sklearn.utils.multiclass import _ovr_decision_function

from surewood import PolySVC
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.one_vs_one import NEAREST, class_scores, class_votes, first_rows
from surewood.tables import begin_fit
from tests.instruction_sets import each_instruction_set
from tests.svm.reference import blobs, decisions, group_rows, kernel_matrix, vote


@settings(max_examples=15, deadline=None)
@given(
    n_classes=st.integers(2, 6),
    degree=st.integers(1, 5),
    kind=st.sampled_from(["poly", "rbf"]),
    seed=st.integers(0, 10**6),
)
def test_votes_and_decisions_equal_the_reference(n_classes, degree, kind, seed):
    X, labels = blobs(60, 4, n_classes, seed)
    spec = KernelSpec(kind, 0.25, 1.0)
    machines = solve_many(Gram(X), [np.arange(60)], labels, [degree], 1.0, kernel=spec)
    grid = np.random.default_rng(seed).normal(size=(40, 4))
    expected = decisions(machines, 0, X, labels, grid)
    predictor = machines.predictor()
    found = predictor.decisions(grid)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-4 * max(1, np.abs(expected).max()))
    classes = machines.classes(0).tolist()
    assert predictor.predict(grid)[:, 0].tolist() == [vote(row, classes) for row in found]
    share = predictor.vote_fractions(grid, n_classes=n_classes)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    for row, values in zip(share, found):
        wins = np.zeros(n_classes)
        for value, (a, b) in zip(values, zip(*np.triu_indices(n_classes, 1))):
            wins[a if value > 0 else b] += 1
        np.testing.assert_allclose(row, wins / len(values))


def test_training_predictions_are_those_of_the_predictor():
    X, labels = blobs(200, 3, 7, 1, noise=2.5)  # hard: most points need all votes
    machines = solve_many(Gram(X), [np.arange(200), np.arange(0, 200, 3)], labels, [1, 3], [0.1, 5.0])
    assert (machines.n_correct < [[[200]], [[67]]]).all()
    for problem in range(8):
        rows = group_rows(machines, problem)
        np.testing.assert_array_equal(
            machines.predicted(problem), machines.predictor(problem).predict(X[rows])[:, 0]
        )
        assert machines.n_correct.ravel()[problem] == (machines.predicted(problem) == labels[rows]).sum()


def test_predictions_equal_libsvm_on_many_classes():
    X, labels = blobs(250, 5, 8, 4)
    spec = KernelSpec.default(5)
    machines = solve_many(Gram(X), [np.arange(250)], labels, [2], 1.0, kernel=spec, max_iter=10**7)
    grid = np.random.default_rng(0).normal(size=(300, 5))
    peer = SVC(kernel="precomputed").fit(kernel_matrix(X, X, spec, 2), labels)
    K = kernel_matrix(grid, X, spec, 2)
    differs = machines.predictor().predict(grid)[:, 0] != peer.predict(K)
    peer.decision_function_shape = "ovo"
    assert (np.abs(peer.decision_function(K)[differs]).min(axis=1) < 2e-3).all()
    assert differs.sum() <= 3


def test_a_decision_of_zero_is_a_vote_for_the_second_class_and_ties_go_to_the_first():
    X, labels = np.zeros((2, 1)), np.array([3, 5])
    machines = solve_many(Gram(X), [[0, 1]], labels, [1], 1.0)
    assert machines.predictor().decisions(X)[0, 0] == 0.0
    assert machines.predicted(0).tolist() == [5, 5]  # as libsvm
    cycle = solve_many(Gram(np.eye(3)), [np.arange(3)], np.arange(3), [1], 1.0).predictor()
    bias = np.array([1.0, -1.0, 1.0])  # 0 beats 1, 2 beats 0, 1 beats 2: one vote each
    cycle = replace(cycle, coef=np.zeros_like(cycle.coef), bias=bias)
    assert cycle.predict(np.zeros((1, 3)))[0, 0] == 0


def test_many_machines_in_one_call():
    X, labels = blobs(150, 4, 3, 8)
    rng = np.random.default_rng(0)
    groups = [rng.permutation(150)[:40] for _ in range(5)] + [np.flatnonzero(labels == 1)]
    machines = solve_many(Gram(X), groups, labels, [1, 4], 1.0)
    chosen = [machines.index(g, g % 2) for g in range(6)]
    predictor = machines.predictor(chosen)
    assert predictor.n_svms == 6
    assert len(predictor.support_rows) == len(
        np.unique(np.concatenate([machines.support(p) for p in chosen]))
    )
    np.testing.assert_array_equal(X[predictor.support_index], predictor.support_rows)
    grid = rng.normal(size=(70, 4))
    assign = rng.integers(-1, 6, size=(70, 9))
    codes = predictor.predict(grid, assign)
    np.testing.assert_array_equal(predictor.predict(grid, assign, n_jobs=2), codes)
    alone = np.stack([machines.predictor(p).predict(grid)[:, 0] for p in chosen], axis=1)
    expected = np.where(assign < 0, -1, np.take_along_axis(alone, np.maximum(assign, 0), axis=1))
    np.testing.assert_array_equal(codes, expected)
    np.testing.assert_allclose(
        predictor.vote_fractions(grid, assign, n_classes=3).sum(axis=1), (assign >= 0).sum(axis=1)
    )
    again = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(again.predict(grid, assign), codes)


@pytest.mark.parametrize("n_features", [1, 5, 16])
def test_blocks_of_rows_vote_like_single_rows_on_every_instruction_set(n_features):
    """Single precision decides only what double precision would decide the same way."""
    X, labels = blobs(120, n_features, 5, n_features, noise=2.0)
    groups = [np.arange(120), np.arange(0, 120, 2), np.flatnonzero(labels < 2)]
    machines = solve_many(Gram(X), groups, labels, [1, 3, 9], [0.1, 1e4])
    predictor = machines.predictor()
    rng = np.random.default_rng(0)
    spread = np.array([1.0, 1e-3, 1e3, 1e18])[rng.integers(0, 4, 400)]
    grid = np.vstack([rng.normal(size=(400, n_features)) * spread[:, None], X, np.zeros((3, n_features))])
    assign = rng.integers(-1, predictor.n_svms, size=(len(grid), 12)).astype(np.int32)
    assign[:, 11] = -2 - rng.integers(0, 5, len(grid))
    one_by_one = np.vstack([predictor.predict(grid[[r]], assign[[r]]) for r in range(len(grid))])
    for m in range(predictor.n_svms):
        rows, tasks = np.nonzero(assign == m)
        classes = machines.classes(m).tolist()
        expected = [vote(row, classes) for row in predictor.decisions(grid[rows], m)]
        assert one_by_one[rows, tasks].tolist() == expected
    assert np.array_equal(one_by_one[:, 11], -2 - assign[:, 11])
    for _ in each_instruction_set():
        assert np.array_equal(predictor.predict(grid, assign), one_by_one)
    assert np.array_equal(predictor.predict(grid, assign, n_jobs=2), one_by_one)


@pytest.mark.parametrize("n_features", [1, 5, 40])
def test_stored_products_give_the_same_votes_on_every_instruction_set(n_features):
    X, labels = blobs(150, n_features, 5, n_features, noise=2.0)
    X[:5] = 0.0  # decisions without a margin
    gram = Gram(X)
    groups = [np.arange(150), np.arange(0, 150, 2), np.flatnonzero(labels < 2)]
    predictor = solve_many(gram, groups, labels, [1, 3, 9], [0.1, 1e4]).predictor()
    rng = np.random.default_rng(0)
    rows = rng.permutation(150)[:130]
    assign = rng.integers(-7, predictor.n_svms, size=(130, 9)).astype(np.int32)
    expected = np.vstack([predictor.predict(X[[r]], assign[[k]]) for k, r in enumerate(rows)])
    for _ in each_instruction_set():
        found = predictor.predict(X[rows], assign, stored=gram.stored(rows))
        assert np.array_equal(found, expected)
    for n_jobs in (1, 2):
        found = predictor.predict(X[rows], assign, stored=gram.stored(rows), n_jobs=n_jobs)
        assert np.array_equal(found, expected)
    with pytest.raises(ValueError, match="a row number is out of range"):
        predictor.predict(X[rows], assign, stored=gram.stored(rows + 100))


def test_wild_rows_get_finite_decisions():
    X, labels = blobs(50, 3, 3, 0)
    wild = np.vstack([1e300 * np.ones((1, 3)), [[1e300, -1e300, 1e300]], np.zeros((1, 3))])
    for spec in (KernelSpec("poly", 1.0, 1.0), KernelSpec("rbf", 1.0)):
        predictor = solve_many(Gram(X), [np.arange(50)], labels, [3], 1.0, kernel=spec).predictor()
        assert np.isfinite(predictor.decisions(wild)).all()
        assert set(predictor.predict(wild)[:, 0]) <= {0, 1, 2}


def test_errors_say_what_was_wrong():
    X, labels = blobs(20, 2, 2, 0)
    machines = solve_many(Gram(X), [np.arange(20)], labels, [1], 1.0)
    predictor = machines.predictor()
    with pytest.raises(ValueError, match="X must have 2 columns"):
        predictor.predict(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="assign names SVM 1 of 1"):
        predictor.predict(X, np.ones((20, 1), dtype=int))
    with pytest.raises(ValueError, match="assign must have one row per row of X"):
        predictor.predict(X, np.zeros((3, 1), dtype=int))
    with pytest.raises(ValueError, match="n_classes=1, but the SVMs know class 1"):
        predictor.vote_fractions(X, n_classes=1)
    with pytest.raises(ValueError, match="unknown quantity 'margin'"):
        machines.pair("margin", 0)


def test_predictors_of_constant_machines_only():
    X = np.random.default_rng(0).normal(size=(10, 3))
    labels = np.repeat([0, 2], 5)
    predictor = solve_many(Gram(X), [np.arange(5), np.arange(5, 10)], labels, [1], [1.0]).predictor()
    assert len(predictor.support_rows) == 0
    both = np.tile([0, 1], (10, 1))
    np.testing.assert_array_equal(predictor.predict(X, both), np.tile([0, 2], (10, 1)))
    np.testing.assert_array_equal(
        predictor.vote_fractions(X, both, n_classes=3), np.tile([1.0, 0, 1], (10, 1))
    )
    assert predictor.decisions(X).shape == (10, 0)


def test_arrays_that_were_checked_do_not_change():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    predictor = solve_many(Gram(X), [np.arange(4)], y, degrees=[1], C=[10.0]).predictor()
    assert predictor.predict(X).ravel().tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        predictor.support[0] = 99
    with pytest.raises(FrozenInstanceError):
        predictor.support = np.full_like(predictor.support, 99)
    assert "_in_core" not in predictor.__getstate__()


def test_scores_equal_scikit_learns():
    decisions = np.random.default_rng(0).normal(size=(30, 6))
    expected = _ovr_decision_function(decisions < 0, -decisions, 4)
    np.testing.assert_allclose(class_scores(decisions, np.arange(4), 4), expected)


def test_classes_without_a_machine_come_last():
    scores = class_scores(np.array([[3.0], [-2.0]]), np.array([1, 3]), 5)
    assert scores.argmax(axis=1).tolist() == [1, 3]
    assert (scores[:, [0, 2, 4]] == -1).all()
    constant = class_scores(np.zeros((2, 0)), np.array([2]), 3)
    assert constant.argmax(axis=1).tolist() == [2, 2]


def test_confidence_and_votes_are_summed_pair_by_pair():
    decisions = np.random.default_rng(1).normal(size=(9, 66))
    confidence, votes = np.zeros((9, 12)), np.zeros((9, 12))
    for pair, (a, b) in enumerate(zip(*np.triu_indices(12, 1))):
        confidence[:, a] += decisions[:, pair]
        confidence[:, b] -= decisions[:, pair]
        votes[:, a] += decisions[:, pair] > 0
        votes[:, b] += decisions[:, pair] <= 0
    assert (class_votes(decisions, 12) == votes).all()
    squeezed = confidence / (3.0 * (np.abs(confidence) + 1.0))
    assert (class_scores(decisions, np.arange(12), 12) == votes + squeezed).all()  # to the bit


rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = np.where(X[:, 0] + 0.4 * rng.normal(size=80) > 0, "up", "down")


def test_they_are_training_rows_in_the_order_of_their_distance():
    model = PolySVC(degree=2).fit(X, Y)
    (told,) = model.explain(X[:1])
    support = told["support"]
    assert len(support) == NEAREST
    distances = [one["distance"] for one in support]
    assert distances == sorted(distances)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for one in support:
        assert Y[one["row"]] == one["label"]
        assert one["distance"] == pytest.approx(np.linalg.norm(scaled[one["row"]] - scaled[0]), rel=1e-6)


def test_merged_rows_point_to_the_first_of_equal_ones():
    repeated = np.concatenate([X[:5], X[:5], X[5:7]])
    labels = np.concatenate([Y[:5], Y[:5], Y[5:7]])
    inputs = begin_fit(PolySVC(), repeated, labels)
    rows = first_rows(inputs)
    np.testing.assert_array_equal(repeated[rows], inputs.table.matrix())
    assert set(rows) == {0, 1, 2, 3, 4, 10, 11}
