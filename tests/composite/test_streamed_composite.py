"""Composite forests from Parquet: the model of the in-memory fit, the design matrix in a file."""

import os

import numpy as np
import pytest

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifier
from surewood.composite import ensemble, estimator
from surewood.tables import ParquetTable, is_mapped
from surewood.tables import parquet as parquet_module
from tests.contract.parquet_tables import mixed_frame, write_parts


@pytest.mark.parametrize(
    "model",
    [
        RandomCompositeForestClassifier.paper(
            n_estimators=4, max_depth=2, degrees=(1, 2), C=1.0, random_state=0, max_memory=1 << 20
        ),
        RandomCompositeForestClassifier(4, selection="exact", max_samples=0.7, degrees=1, random_state=0),
        CompositeTreeClassifier(max_depth=2, degrees=1, C=1.0, random_state=0),
    ],
)
def test_the_same_model_as_from_a_frame(tmp_path, monkeypatch, model):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 90)
    frame = mixed_frame(300).drop(columns="many")
    folder = write_parts(frame, tmp_path / "t")
    (tmp_path / "work").mkdir()
    X = frame.drop(columns="label")
    expected = model.fit(X, frame["label"]).predict_proba(X)
    ledger = model.ledger()
    seen = []
    resolve = estimator.resolve

    def watched(model, data, seed, options):
        seen.append((is_mapped(data.matrix.blocks[0]), is_mapped(data.gram.X)))
        return resolve(model, data, seed, options)

    monkeypatch.setattr(estimator, "resolve", watched)
    model.fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    np.testing.assert_array_equal(model.predict_proba(folder), expected)
    assert model.ledger().equals(ledger)
    assert model.tree_predictions(folder).tolist() == model.tree_predictions(X).tolist()
    assert seen in ([(True, True)], [])  # a single tree resolves its plan by itself
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bootstrap": True, "class_weight": "balanced"},
        {"selection": "random_sequences", "max_samples": None, "degrees": (1, 2)},
    ],
)
def test_few_trees_at_a_time_give_the_same_model(monkeypatch, changes):
    frame = mixed_frame(200).drop(columns="many")
    X, y = frame.drop(columns="label"), frame["label"]
    settings = {"selection": "exact", "max_samples": 0.7, "degrees": 1, "C": 1.0, **changes}
    model = RandomCompositeForestClassifier(5, random_state=0, max_depth=2, **settings)
    expected, ledger = model.fit(X, y).predict_proba(X), model.ledger()
    error = model.held_out_error_
    monkeypatch.setattr(ensemble, "_ROWS_AND_TREES", 400)
    monkeypatch.setattr(ensemble, "ROWS_A_BLOCK", 64)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    assert model.ledger().equals(ledger)
    assert model.held_out_error_ == error
