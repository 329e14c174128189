"""Predictions to frames and files."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.workflow.parquet_prediction import probability_column


def test_a_frame_with_one_name_for_probabilities(folder, table, fitted):
    found = workflow.predict(folder, table, proba=True)
    assert found.frame.columns.tolist() == ["prediction", "probability of ja", "probability of nein"]
    assert found.frame.columns.tolist()[1:] == [probability_column(label) for label in found.classes]
    assert sum(found.counts.values()) == found.n_rows == 120
    expected = fitted.model.predict_proba(pd.read_csv(table))
    np.testing.assert_allclose(found.frame.iloc[:, 1:], expected)


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
    assert set(rows[0]) == {"prediction", "probabilities"}
    assert sum(rows[0]["probabilities"].values()) == pytest.approx(1)
