"""Leaf SVMs: trained in chunks, joined into one predictor; C of every degree by cross-validation."""

import numpy as np
import pytest

from surewood.composite import leaf_svms
from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import join_predictors, tune_C
from surewood.composite.trees import fit_trees
from surewood.svm.dual import solve_many
from tests.composite.composite_samples import OPTIONS, prepared, sample, setting


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
    whole = fit_trees(data, setting(), TreeRange(6, 0), OPTIONS).trees
    monkeypatch.setattr(leaf_svms, "CHUNK_BYTES", 10_000)
    cut = fit_trees(data, setting(), TreeRange(6, 0), OPTIONS).trees
    assert np.array_equal(whole.labels(data.matrix, data.gram.X), cut.labels(data.matrix, data.gram.X))
    assert np.array_equal(whole.leaves.degree, cut.leaves.degree)


def test_each_svm_is_evaluated_once_per_row(data):
    svms = solve_many(data.gram, [np.arange(100), np.arange(50, 150)], data.y, [1], [1.0])
    predictor = svms.predictor()
    assign = np.random.default_rng(0).integers(-1, 2, size=(data.n_rows, 9)).astype(np.int32)
    expected = predictor.predict(data.gram.X, assign)
    one_by_one = [predictor.predict(data.gram.X, assign[:, [t]]) for t in range(9)]
    assert np.array_equal(np.hstack(one_by_one), expected)


def test_tuning_counts_every_row_once():
    data = prepared(*sample(90))
    C, errors = tune_C(data, (1, 2), 0, OPTIONS, (1e-3, 1.0))
    assert errors.shape == (2, 2)
    assert (errors <= 90).all()
    assert C[0] in (1e-3, 1.0)
