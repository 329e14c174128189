"""Predictions to frames and files, and from one Parquet file into another."""

from __future__ import annotations

import csv
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from surewood import BinnedForestClassifier, predict_to_parquet, workflow
from surewood.tables import ParquetTable
from surewood.tables import parquet as parquet_module
from surewood.workflow.predicting import probability_column, safe_frame, write_csv
from tests.contract.parquet_tables import mixed_frame, write_parts


def test_a_frame_with_one_name_for_probabilities(folder, table, fitted):
    found = workflow.predict(folder, table, proba=True)
    names = ["line", "Kunden-Nr.", "prediction", "probability", "probability of ja", "probability of nein"]
    assert found.frame.columns.tolist() == names
    assert found.frame["line"].tolist() == list(range(2, 122))
    assert found.frame.columns.tolist()[4:] == [probability_column(label) for label in found.classes]
    assert sum(found.counts.values()) == found.n_rows == 120
    expected = fitted.model.predict_proba(pd.read_csv(table))
    np.testing.assert_allclose(found.frame.iloc[:, 4:], expected)
    np.testing.assert_allclose(found.frame["probability"], expected.max(axis=1))


def test_python_and_the_command_line_name_the_column_alike(folder, table, tmp_path):
    frame = pd.read_csv(table)
    frame.to_parquet(tmp_path / "table.parquet")
    saved = workflow.open_model(folder)
    prepared = saved.prepare(frame)
    prepared.to_parquet(tmp_path / "prepared.parquet")
    rows = workflow.predict_to_parquet(
        saved.estimator, tmp_path / "prepared.parquet", tmp_path / "python.parquet", proba=True
    )
    workflow.predict(folder, tmp_path / "table.parquet", proba=True, out=tmp_path / "command.parquet")
    python, command = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("python", "command"))
    assert rows == 120
    assert python.columns.tolist() == command.columns.drop(["Kunden-Nr.", "probability"]).tolist()
    assert python["prediction"].tolist() == command["prediction"].tolist()


def test_a_file_appears_whole_or_not_at_all(folder, table, tmp_path):
    found = workflow.predict(folder, table, out=tmp_path / "new" / "out.csv")
    assert found.file == tmp_path / "new" / "out.csv"
    assert len(pd.read_csv(found.file)) == 120
    with pytest.raises(workflow.WorkflowError, match=r"the name must end in \.csv or \.parquet"):
        workflow.predict(folder, table, out=tmp_path / "out.txt")


def test_records_are_plain(folder, table):
    rows = workflow.predicting.records(workflow.predict(folder, table, proba=True))
    assert set(rows[0]) == {"line", "Kunden-Nr.", "prediction", "probability", "probabilities"}
    assert rows[0]["line"] == 2
    assert sum(rows[0]["probabilities"].values()) == pytest.approx(1, abs=1e-5)


def test_columns_of_the_table_beside_the_predictions(folder, table):
    found = workflow.predict(folder, table, keep="Stadt, Land")
    assert found.frame.columns.tolist() == [
        "line",
        "Kunden-Nr.",
        "Stadt",
        "Land",
        "prediction",
        "probability",
    ]
    everything = workflow.predict(folder, table, keep="all").frame
    assert everything.columns.tolist() == ["line", *pd.read_csv(table), "prediction", "probability"]
    pd.testing.assert_series_equal(
        found.frame["Stadt"].fillna(""), pd.read_csv(table)["Stadt"].fillna(""), check_dtype=False
    )
    with pytest.raises(workflow.WorkflowError, match=r"^keep=town: the table has no such column\.$"):
        workflow.predict(folder, table, keep=["town"])


def test_an_empty_table_gets_an_empty_answer(folder, table, tmp_path):
    header = table.read_text().splitlines()[0]
    (tmp_path / "none.csv").write_text(header + "\n")
    found = workflow.predict(folder, tmp_path / "none.csv", proba=True)
    assert found.n_rows == 0
    assert found.frame.columns.tolist()[:4] == ["line", "Kunden-Nr.", "prediction", "probability"]


def test_several_files_of_one_shape(folder, table):
    found = workflow.predict(folder, [table, table])
    assert found.n_rows == 240
    assert found.frame["prediction"].tolist()[:120] == found.frame["prediction"].tolist()[120:]


def test_probabilities_in_text_have_six_decimals(folder, table, tmp_path):
    found = workflow.predict(folder, table, proba=True, out=tmp_path / "out.csv")
    written = pd.read_csv(found.file)["probability of ja"]
    np.testing.assert_allclose(written, found.frame["probability of ja"], atol=5.1e-7)
    assert written.equals(written.round(6))


def test_points_between_thousands_stay_what_they_were_in_training(tmp_path):
    """A short table has no number with two points; by itself it would be read with decimal points."""
    rng = np.random.default_rng(0)
    prices = rng.integers(500, 4_000_000, 80)
    written = [f"{price:,}".replace(",", ".") for price in prices]
    labels = np.where(prices > 900_000, "hoch", "tief")
    pd.DataFrame({"preis": written, "k": labels}).to_csv(tmp_path / "t.csv", sep=";", index=False)
    workflow.fit(
        tmp_path / "t.csv", target="k", model="rcf", out=tmp_path / "m", parameters={"n_estimators": 5}
    )
    few = pd.DataFrame({"preis": ["950", "17.027", "950.000", "700"], "k": ["tief", "tief", "hoch", "tief"]})
    few.to_csv(tmp_path / "few.csv", sep=";", index=False)
    (tmp_path / "plain.csv").write_text("preis\n950\n17027\n950000\n700\n")
    found = workflow.predict(tmp_path / "m", tmp_path / "few.csv", proba=True).frame
    plain = workflow.predict(tmp_path / "m", tmp_path / "plain.csv", proba=True).frame
    pd.testing.assert_frame_equal(found, plain)
    assert workflow.explain(tmp_path / "m", tmp_path / "few.csv", row=4).prediction == found["prediction"][2]
    looked_at = workflow.monitor(tmp_path / "m", tmp_path / "few.csv")
    assert looked_at.n_rows == 4


@pytest.fixture
def forest(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 100)
    frame = mixed_frame().assign(id=np.arange(600))
    folder = write_parts(frame, tmp_path / "t")
    X = frame.drop(columns=["label", "id"])
    return BinnedForestClassifier(5, random_state=0).fit(X, frame["label"]), X, folder


def test_labels_and_probabilities_in_order(forest, tmp_path):
    model, X, folder = forest
    assert predict_to_parquet(model, folder, tmp_path / "out.parquet", proba=True, keep=["id"]) == 600
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert list(out) == ["id", "prediction", "probability of no", "probability of yes"]
    assert out["id"].tolist() == list(range(600))
    assert out["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(out.iloc[:, 2:].to_numpy(), model.predict_proba(X))


def test_a_part_of_a_split(forest, tmp_path):
    model, X, folder = forest
    _, held = ParquetTable(folder).split(0.3)
    rows = predict_to_parquet(model, held, tmp_path / "out.parquet", keep=["id", "float"])
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert len(out) == rows < 300
    assert out["prediction"].tolist() == model.predict(X.iloc[out["id"]]).tolist()


def test_a_pipeline(forest, tmp_path):
    _, X, folder = forest
    labels = ParquetTable(folder, "label").read_target()
    model = make_pipeline(FunctionTransformer(), BinnedForestClassifier(3, random_state=0)).fit(X, labels)
    predict_to_parquet(model, folder, tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["prediction"].tolist() == model.predict(X).tolist()


def test_what_goes_wrong_leaves_no_file(forest, tmp_path):
    model, _, folder = forest
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


def test_formulas_become_text_and_numbers_stay():
    frame = pd.DataFrame(
        {
            "=name": ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "plain", None],
            "n": [-1.5, 2.0, np.nan, -4.0, 5.0, 6.0, 7.0],
            "c": pd.Categorical(["=a", "b", "b", "b", "b", "b", "b"]),
        }
    )
    safe = safe_frame(frame)
    assert safe.columns.tolist() == ["'=name", "n", "c"]
    assert safe.iloc[:6, 0].tolist() == ["'=cmd|' /C calc'!A0", "'+1", "'-1", "'@SUM(A1)", "'\tx", "plain"]
    assert pd.isna(safe.iloc[6, 0])
    pd.testing.assert_series_equal(safe["n"], frame["n"])
    assert safe["c"].tolist()[:2] == ["'=a", "b"]
    assert frame.columns[0] == "=name"


def test_columns_of_one_name():
    frame = pd.DataFrame([["=a", "=b"]], columns=["x", "x"])
    assert safe_frame(frame).to_numpy().tolist() == [["'=a", "'=b"]]


def test_nothing_behind_a_carriage_return_begins_a_row(tmp_path):
    frame = pd.DataFrame({"a": ["x\r=cmd()", "y", None], "n": [0.1, np.nan, -2.0], "k": [1, 2, 3]})
    write_csv(frame, tmp_path / "t.csv", safe=True)
    for text in (write_csv(frame, safe=True), (tmp_path / "t.csv").read_bytes().decode()):
        rows = list(csv.reader(text.splitlines(keepends=True)))
        assert rows[1:] == [["x\r=cmd()", "0.1", "1"], ["y", "", "2"], ["", "-2.0", "3"]]
    named = pd.DataFrame({"b\r=cmd()": [1]})
    assert write_csv(named) == '"b\r=cmd()"\n1\n'


def test_other_tables_are_quoted_where_they_must_be_only():
    frame = pd.DataFrame({"a": ["x", "y\nz", 'q"', "1,5"], "n": [0.1, 2.0, 3.0, 4.0]})
    assert write_csv(frame) == frame.to_csv(index=False, lineterminator="\n")
