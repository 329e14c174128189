"""Tables with a target, divided into training rows and a holdout."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.workflow.errors import WorkflowError
from surewood.workflow.labelled_table import TrainingTable, read_for_training, read_labelled, read_rows


def test_row_numbers_lead_back_to_the_table(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": ["a", "b", None] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.25, 0))
    assert frame["x"][table.row_numbers - 2].tolist() == table.X["x"].tolist()
    assert (table.n_rows, table.n_holdout) == (30, 10)
    assert "20 rows of" in table.notes[0]


def test_the_same_seed_holds_out_the_same_rows():
    one, two = (read_for_training(TrainingTable("iris", None, 0.2, 3)) for _ in range(2))
    assert one.row_numbers.tolist() == two.row_numbers.tolist()
    other = read_for_training(TrainingTable("iris", None, 0.2, 4))
    assert one.row_numbers.tolist() != other.row_numbers.tolist()


def test_keeping_rows_keeps_their_numbers():
    table = read_labelled("iris", None)
    table.keep(np.array([5, 100]))
    assert table.row_numbers.tolist() == [6, 101]
    assert len(table.X) == table.n_rows == 2


def test_rows_without_a_target():
    assert read_rows("wine").frame.shape == (178, 13)


def two_files(folder):
    """Files of one shape; a label of the first and a weight of the second are missing."""
    (folder / "a.csv").write_text(
        "x,w,y\n" + "".join(f"{k},1,{'ab'[k % 2] if k != 3 else ''}\n" for k in range(20))
    )
    (folder / "b.csv").write_text(
        "x,w,y\n\n" + "".join(f"{k},{1 if k else 'no'},{'ab'[k % 2]}\n" for k in range(9))
    )
    return [folder / "a.csv", folder / "b.csv"]


def test_rows_of_several_files_are_named_by_file_and_line(tmp_path):
    table = read_labelled(two_files(tmp_path), "y")
    names = table.row_names().tolist()
    assert names[2:4] == ["a.csv line 4", "a.csv line 6"]
    assert names[19] == "b.csv line 3"
    table.hold_out(np.arange(28) >= 20)
    assert table.row_names(held_out=True)[0] == "b.csv line 4"
    with pytest.raises(WorkflowError, match=r"weight=w: b.csv line 3 has 'no', which is not a weight"):
        read_labelled(two_files(tmp_path), "y", weight="w")


def test_a_model_of_several_files_names_its_rows_by_file_and_line(tmp_path):
    files = two_files(tmp_path)
    tiny = {"n_estimators": 2, "max_layers": 1, "cv": 2}
    fitted = workflow.fit(
        files, "y", model="mddf", parameters=tiny, holdout=0.0, n_jobs=1, out=tmp_path / "out"
    )
    assert workflow.open_model(tmp_path / "out").row_name(3) == "a.csv line 6"
    found = workflow.predict(tmp_path / "out", files).frame
    assert found.columns.tolist()[:2] == ["file", "line"]
    assert found.iloc[20, :2].tolist() == ["b.csv", 3]
    assert fitted.facts["rows"] == 28


def test_a_holdout_without_any_class_of_the_training_rows_is_refused(tmp_path):
    rows = "".join(f"{k},c{k % 30}\n" for k in range(60))  # two rows of each class: held out or alone
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    with pytest.raises(WorkflowError, match=r"classes of one row are dropped; take rare=keep, or holdout=0"):
        read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.2, 0))
    kept = read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.2, 0, "keep"))
    assert kept.n_rows == 48
