"""Machines joined, votes counted, leaves trusted."""

import numpy as np
import pytest

from surewood.composite import machines as machines_module
from surewood.composite.fitting import Setting, fit_trees
from surewood.composite.machines import SolverOptions, join_predictors
from surewood.composite.model import LeafTrust, blend, join_models, vote_shares
from surewood.svm import solve_many, vote_counts
from tests.composite.composite_samples import prepared, sample

OPTIONS = SolverOptions()


def setting(**changes):
    base = {"max_depth": 2, "max_features": 2, "degrees": (1, 2), "C": (1.0, 1.0), "gamma_scale": 1e-4}
    return Setting(**(base | changes))


@pytest.fixture(scope="module")
def data():
    return prepared(*sample(150))


def test_joined_predictors_answer_as_before(data):
    groups = [np.arange(60), np.arange(30, 120), np.arange(150)]
    parts = [solve_many(data.gram, [g], data.y, [1, 2], [1.0]).predictor() for g in groups]
    joined = join_predictors(parts)
    assert len(joined.support_rows) == len(np.unique(joined.support_index)) <= data.n_rows
    assign = np.tile(np.arange(6, dtype=np.int32), (data.n_rows, 1))
    alone = [p.predict(data.gram.X, assign[:, :2]) for p in parts]
    assert np.array_equal(joined.predict(data.gram.X, assign), np.concatenate(alone, axis=1))


def test_chunks_change_nothing(data, monkeypatch):
    whole, _ = fit_trees(data, setting(), 6, 0, OPTIONS)
    monkeypatch.setattr(machines_module, "CHUNK_BYTES", 10_000)
    cut, _ = fit_trees(data, setting(), 6, 0, OPTIONS)
    assert np.array_equal(whole.labels(data.matrix, data.gram.X), cut.labels(data.matrix, data.gram.X))
    assert np.array_equal(whole.facts.degree, cut.facts.degree)


def test_trees_do_not_depend_on_their_company(data):
    together, _ = fit_trees(data, setting(selection="random_degree"), 6, 3, OPTIONS)
    first, _ = fit_trees(data, setting(selection="random_degree"), 2, 3, OPTIONS)
    rest, _ = fit_trees(data, setting(selection="random_degree"), 4, 3, OPTIONS, first_tree=2)
    joined = join_models([first, rest])
    labels = together.labels(data.matrix, data.gram.X)
    assert np.array_equal(joined.labels(data.matrix, data.gram.X), labels)
    assert np.array_equal(joined.facts.degree, together.facts.degree)
    assert np.array_equal(together.trees(2).labels(data.matrix, data.gram.X), labels[:, :2])


def test_each_machine_is_asked_once_a_row(data):
    machines = solve_many(data.gram, [np.arange(100), np.arange(50, 150)], data.y, [1], [1.0])
    predictor = machines.predictor()
    assign = np.random.default_rng(0).integers(-1, 2, size=(data.n_rows, 9)).astype(np.int32)
    expected = predictor.predict(data.gram.X, assign)
    one_by_one = [predictor.predict(data.gram.X, assign[:, [t]]) for t in range(9)]
    assert np.array_equal(np.hstack(one_by_one), expected)


def test_masked_votes():
    labels = np.array([[0, 1, 1], [-1, 2, -1], [-1, -1, -1]], dtype=np.int32)
    assert vote_counts(labels, 3).tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]
    shares = vote_shares(labels, 3)
    assert shares[0].tolist() == pytest.approx([1 / 3, 2 / 3, 0])
    assert np.isnan(shares[2]).all()


def test_a_blend_leaves_unknown_rows_to_the_other_side():
    a = np.array([[1.0, 0.0], [np.nan, np.nan]])
    b = np.array([[0.0, 1.0], [0.3, 0.7]])
    assert blend(a, b, 0.25).tolist() == [[0.75, 0.25], [0.3, 0.7]]


def test_trust_is_the_share_of_right_labels_pulled_to_the_mean():
    leaf = np.array([[0], [0], [1], [1]])
    labels = np.array([[0], [0], [1], [1]])
    y = np.array([0, 0, 0, 1])
    trust = LeafTrust.measure(leaf, labels, y, None, n_leaves=2, n_classes=2)
    doubled = LeafTrust.measure(leaf, labels, y, np.full(4, 2.0), n_leaves=2, n_classes=2)
    assert doubled.right[0] > trust.right[0]  # twice the rows, less pull
    mean = 4 / 6
    assert trust.right.tolist() == pytest.approx([(2 + 10 * mean) / 12, (1 + 10 * mean) / 12])
    assert trust.spread.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    shares = trust.shares(leaf, labels)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares[0, 0] == pytest.approx(trust.right[0])


def test_degree_zero_is_the_most_frequent_class():
    rng = np.random.default_rng(0)
    data = prepared(rng.normal(size=(60, 3)), rng.integers(0, 2, 60))
    model, _ = fit_trees(
        data, setting(max_depth=0, constant_leaves=True, gamma_scale=1e-9, C=(1e-6, 1e-6)), 1, 0, OPTIONS
    )
    assert model.facts.degree.tolist() == [0]
    assert model.facts.constant[0] == np.bincount(data.y).argmax()
    assert model.predictor is None
