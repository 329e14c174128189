"""Cascades from Parquet: the model of the in-memory fit, with codes and class vectors in files."""

import os

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from surewood import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest import layer_input
from surewood.tables import ParquetTable, is_mapped
from surewood.tables import parquet as parquet_module
from tests.contract.parquet_tables import mixed_frame, write_parts

SMALL = {"n_estimators": 3, "max_layers": 2, "cv": 2, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        MarginDeepForestClassifier(**SMALL, depth_schedule=8, forests=["random", "completely_random"]),
        MarginDeepForestClassifier(
            **SMALL,
            depth_schedule=8,
            forests=["extra"],
            study={"cross_fit": "oob", "validation_fraction": 0.25},
        ),
        MarginDeepForestClassifier(
            **SMALL, depth_schedule=8, forests=["random", LogisticRegression()], class_weight="balanced"
        ),
        CascadeForestClassifier(**SMALL, forests=["random", "random"]),
    ],
)
def test_the_same_model_as_from_a_frame(tmp_path, monkeypatch, model):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 90)
    frame = mixed_frame(300)
    folder = write_parts(frame, tmp_path / "t")
    (tmp_path / "work").mkdir()
    X = frame.drop(columns="label")
    expected = model.fit(X, frame["label"]).predict_proba(X)
    scores = model.held_out_scores_
    model.fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    # Batches of another size: a product of another shape may round its last bit differently.
    np.testing.assert_allclose(model.predict_proba(folder), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.held_out_scores_, scores)
    assert os.listdir(tmp_path / "work") == []


def test_class_vectors_become_columns_in_a_file(tmp_path, monkeypatch):
    folder = write_parts(mixed_frame(300), tmp_path / "t")
    seen = []
    widen = layer_input.widen

    def watched(base, vectors, mapper, layer_inputs):
        wide = widen(base, vectors, mapper, layer_inputs)
        seen.append([is_mapped(block) for block in wide.matrix.blocks])
        return wide

    monkeypatch.setattr("surewood.deepforest.margin_growth.widen", watched)
    MarginDeepForestClassifier(**SMALL, depth_schedule=8, forests=["random"]).fit(folder, "label")
    assert seen == [[True, True]]
