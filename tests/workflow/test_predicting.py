"""Predictions to frames and files."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.workflow.parquet_prediction import probability_column


def test_a_frame_with_one_name_for_probabilities(folder, table, fitted):
    found = workflow.predict(folder, table, proba=True)
    assert found.frame.columns.tolist() == ["line", "prediction", "probability of ja", "probability of nein"]
    assert found.frame["line"].tolist() == list(range(2, 122))
    assert found.frame.columns.tolist()[2:] == [probability_column(label) for label in found.classes]
    assert sum(found.counts.values()) == found.n_rows == 120
    expected = fitted.model.predict_proba(pd.read_csv(table))
    np.testing.assert_allclose(found.frame.iloc[:, 2:], expected)


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
    assert python.columns.tolist() == command.columns.tolist()
    assert python["prediction"].tolist() == command["prediction"].tolist()


def test_a_file_appears_whole_or_not_at_all(folder, table, tmp_path):
    found = workflow.predict(folder, table, out=tmp_path / "new" / "out.csv")
    assert found.file == tmp_path / "new" / "out.csv"
    assert len(pd.read_csv(found.file)) == 120
    with pytest.raises(workflow.WorkflowError, match=r"the name must end in \.csv or \.parquet"):
        workflow.predict(folder, table, out=tmp_path / "out.txt")


def test_records_are_plain(folder, table):
    rows = workflow.predicting.records(workflow.predict(folder, table, proba=True))
    assert set(rows[0]) == {"line", "prediction", "probabilities"}
    assert rows[0]["line"] == 2
    assert sum(rows[0]["probabilities"].values()) == pytest.approx(1, abs=1e-5)


def test_columns_of_the_table_beside_the_predictions(folder, table):
    found = workflow.predict(folder, table, keep="Stadt, Land")
    assert found.frame.columns.tolist() == ["line", "Stadt", "Land", "prediction"]
    assert found.frame["Stadt"].tolist() == pd.read_csv(table)["Stadt"].tolist()
    with pytest.raises(workflow.WorkflowError, match=r"^keep=town: the table has no such column\.$"):
        workflow.predict(folder, table, keep=["town"])


def test_an_empty_table_gets_an_empty_answer(folder, table, tmp_path):
    header = table.read_text().splitlines()[0]
    (tmp_path / "none.csv").write_text(header + "\n")
    found = workflow.predict(folder, tmp_path / "none.csv", proba=True)
    assert found.n_rows == 0
    assert found.frame.columns.tolist()[:2] == ["line", "prediction"]


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
