"""Predictions from one Parquet file into another."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from surewood import BinnedForestClassifier, predict_to_parquet
from surewood.tables import ParquetTable
from surewood.tables import parquet as parquet_module
from tests.contract.parquet_tables import mixed_frame, write_parts


@pytest.fixture
def fitted(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 100)
    frame = mixed_frame().assign(id=np.arange(600))
    folder = write_parts(frame, tmp_path / "t")
    X = frame.drop(columns=["label", "id"])
    return BinnedForestClassifier(5, random_state=0).fit(X, frame["label"]), X, folder


def test_labels_and_probabilities_in_order(fitted, tmp_path):
    model, X, folder = fitted
    assert predict_to_parquet(model, folder, tmp_path / "out.parquet", proba=True, keep=["id"]) == 600
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert list(out) == ["id", "prediction", "probability of no", "probability of yes"]
    assert out["id"].tolist() == list(range(600))
    assert out["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(out.iloc[:, 2:].to_numpy(), model.predict_proba(X))


def test_a_part_of_a_split(fitted, tmp_path):
    model, X, folder = fitted
    _, held = ParquetTable(folder).split(0.3)
    rows = predict_to_parquet(model, held, tmp_path / "out.parquet", keep=["id", "float"])
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert len(out) == rows < 300
    assert out["prediction"].tolist() == model.predict(X.iloc[out["id"]]).tolist()


def test_a_pipeline(fitted, tmp_path):
    _, X, folder = fitted
    labels = ParquetTable(folder, "label").read_target()
    model = make_pipeline(FunctionTransformer(), BinnedForestClassifier(3, random_state=0)).fit(X, labels)
    predict_to_parquet(model, folder, tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["prediction"].tolist() == model.predict(X).tolist()


def test_what_goes_wrong_leaves_no_file(fitted, tmp_path):
    model, _, folder = fitted
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ValueError, match="no column 'nix'"):
        predict_to_parquet(model, folder, tmp_path / "out.parquet", keep=["nix"])
    with pytest.raises(ValueError, match="is one of the files to predict"):
        predict_to_parquet(model, folder, folder / "part-0.parquet")
    with pytest.raises(ValueError, match="must be a Parquet file or a ParquetTable, got ndarray"):
        predict_to_parquet(model, np.eye(2), tmp_path / "out.parquet")
    unnamed = BinnedForestClassifier(2).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="without column names"):
        predict_to_parquet(unnamed, folder, tmp_path / "out.parquet")
    last = folder / "part-2.parquet"
    frame = pd.read_parquet(last)
    frame.assign(float=np.inf).to_parquet(last)
    with pytest.raises(ValueError, match="infinity in column 'float'"):
        predict_to_parquet(model, folder, tmp_path / "out.parquet")
    assert sorted(os.listdir(tmp_path)) == before
