"""What a fit reads."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood.composite.data import part_of_inputs, prepare
from surewood.tables import begin_fit
from tests.composite.composite_samples import sample


def test_a_part_is_what_a_fit_on_it_alone_sees():
    X, y = sample(60)
    X[50:] = X[:10]
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 60)
    rows = np.arange(5, 60)
    given = begin_fit(DummyClassifier(), X, y, weight, merge=False)
    alone = begin_fit(DummyClassifier(), X[rows], y[rows], weight[rows])
    part = part_of_inputs(given, rows)
    assert np.array_equal(part.table.columns(0, 6), alone.table.columns(0, 6))
    assert np.array_equal(part.y, alone.y)
    assert np.array_equal(part.weight, alone.weight)


def test_totals_are_weights():
    X, y = sample(40)
    weight = np.linspace(0.5, 2.0, 40)
    data = prepare(begin_fit(DummyClassifier(), X, y, weight), None, 1)
    assert data.total() == pytest.approx(weight.sum())
    assert data.total(np.array([0, 3])) == pytest.approx(data.weight[[0, 3]].sum())
    unweighted = prepare(begin_fit(DummyClassifier(), X, y), None, 1)
    assert (unweighted.total(), unweighted.total(np.arange(7))) == (40.0, 7.0)


def test_a_table_without_columns_for_svms_has_one():
    X = np.ones((10, 2))
    X[:, 1] = np.arange(10)
    data = prepare(begin_fit(DummyClassifier(), X[:, :1], np.arange(10) % 2), None, 1)
    assert data.n_features >= 1
    assert data.n_splitting == 1
