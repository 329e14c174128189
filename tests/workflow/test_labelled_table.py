"""Tables with a target, divided, weighted, or streamed from Parquet files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import surewood
from surewood import workflow
from surewood.cli import app
from surewood.tables import workspace
from surewood.tables.table_file import FileRows
from surewood.workflow import WorkflowError, fit, labelled_table
from surewood.workflow.labelled_table import (
    LabelledRows,
    LabelledTable,
    class_weights,
    read_for_training,
    read_labelled,
    read_rows,
)
from tests.contract.parquet_tables import mixed_frame, write_parts


def test_row_numbers_lead_back_to_the_table(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": ["a", "b", None] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(tmp_path / "t.csv", "y", holdout=0.25)
    assert frame["x"][table.where.numbers[table.rows.places] - 2].tolist() == table.rows.X["x"].tolist()
    assert (table.n_rows, table.n_holdout) == (30, 10)
    assert "20 rows of" in table.notes[0]


def test_the_same_seed_holds_out_the_same_rows():
    one, two = (read_for_training("iris", holdout=0.2, random_state=3) for _ in range(2))
    assert one.rows.places.tolist() == two.rows.places.tolist()
    other = read_for_training("iris", holdout=0.2, random_state=4)
    assert one.rows.places.tolist() != other.rows.places.tolist()


def test_keeping_rows_keeps_their_numbers():
    table = read_labelled("iris", None)
    table.keep(np.array([5, 100]))
    assert table.row_names(table.rows).tolist() == ["row 6", "row 101"]
    assert len(table.rows.X) == table.n_rows == 2


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
    names = table.row_names(table.rows).tolist()
    assert names[2:4] == ["a.csv line 4", "a.csv line 6"]
    assert names[19] == "b.csv line 3"
    assert table.row_names(table.rows.take(np.arange(28) >= 20))[0] == "b.csv line 4"
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
        read_for_training(tmp_path / "t.csv", "y", holdout=0.2)
    kept = read_for_training(tmp_path / "t.csv", "y", rare="keep")
    assert kept.n_rows == 48


FAST = ["--model", "mddf", "--set", "n_estimators=2", "--set", "max_layers=1", "--set", "forests=['extra']"]


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(autouse=True)
def no_page(monkeypatch):
    """The page is drawn on the sample, as any other; that takes longer than all the rest."""
    monkeypatch.setattr("surewood.workflow.reporting.write_report", lambda *arguments, **more: None)


@pytest.fixture
def folder(tmp_path):
    return write_parts(mixed_frame(400).drop(columns="many"), tmp_path / "table")


def test_a_folder_is_streamed_into_a_model_and_back_into_a_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_table, "SAMPLE_ROWS", 150)
    monkeypatch.setattr(labelled_table, "HELD_ROWS", 60)
    result = run("fit", folder, "--target", "label", "--out", tmp_path / "m", "--json", *FAST)
    facts = json.loads(result.stdout)
    assert facts["rows"] + facts["holdout_rows"] == 400
    assert 30 < facts["holdout_rows"] < 90
    assert any("400 rows are streamed" in note for note in facts["notes"])
    run("predict", tmp_path / "m", folder, "--proba", "-o", tmp_path / "out.parquet")
    out = pd.read_parquet(tmp_path / "out.parquet")
    frame = pd.concat([pd.read_parquet(part) for part in sorted(folder.iterdir())], ignore_index=True)
    pipeline = surewood.load(tmp_path / "m" / "model.surewood")
    X = frame.drop(columns="label")
    assert out["prediction"].tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(out.filter(like="probability of "), pipeline.predict_proba(X))
    remembered = pipeline[-1].remembered_rows_.contains(pipeline[0].transform(X))
    assert remembered.sum() >= facts["rows"]  # all training rows are remembered


def test_a_large_file_is_streamed_and_a_small_one_is_not(folder, monkeypatch):
    part = str(folder / "part-0.parquet")
    assert not labelled_table.is_large(part)
    monkeypatch.setattr(labelled_table, "STREAM_BYTES", 100)
    assert labelled_table.is_large(part)
    assert not labelled_table.is_large("absent.parquet")
    assert not labelled_table.is_large("wine")


def test_fewer_rows_on_demand(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_table, "SAMPLE_ROWS", 100)
    words = ["fit", folder, "--target", "label", "--out", tmp_path / "m", "--json", *FAST]
    few = json.loads(run(*words, "--max-rows", 50).stdout)
    assert few["rows"] == 50
    more = json.loads(run(*words, "--max-rows", 200, "--holdout", 0).stdout)
    assert 150 < more["rows"] < 250
    assert more["holdout"] is None


def test_what_a_user_is_told(folder, tmp_path, monkeypatch):
    with pytest.raises(WorkflowError, match=r"needs target=\.\.\."):
        run("fit", folder)
    with pytest.raises(ValueError, match="has no column 'nix'"):
        run("fit", folder, "--target", "nix")
    run("fit", folder, "--target", "label", "--out", tmp_path / "m", *FAST)
    with pytest.raises(WorkflowError, match=r"batch by batch into a file: add out=NAME\.parquet"):
        run("predict", tmp_path / "m", folder)
    (folder / "part-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"part-1\.parquet is not a readable Parquet file"):
        run("fit", folder, "--target", "label", "--out", tmp_path / "other", *FAST)
    assert not (tmp_path / "other").exists()


def test_a_full_disk_is_the_users_to_mend(folder, tmp_path, monkeypatch):
    from surewood.cli.mistakes import USER, explain_error

    monkeypatch.setattr(
        workspace, "_reserve", lambda handle, size: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(OSError, match="of disk in") as caught:
        run("fit", folder, "--target", "label", "--out", tmp_path / "m", *FAST)
    code, sentence = explain_error(caught.value)
    assert code == USER
    assert "make room" in sentence
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("option", ["groups", "time"])
def test_groups_and_time_of_a_streamed_table_are_refused_in_one_sentence(tmp_path, option):
    pd.DataFrame({"x": [1.0, 2.0], "who": [1, 2], "y": ["a", "b"]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(WorkflowError, match=f"^{option}= is not possible for a streamed Parquet table"):
        fit(str(tmp_path), "y", **{option: "who"})


def weighted(weights):
    X = pd.DataFrame({"x": [1, 2, 3], "w": weights})
    where = FileRows.of([("t.csv", "line", np.array([2, 3, 4]))])
    return LabelledTable("t", "t.csv", "y", LabelledRows(X, pd.Series([0, 1, 0]), np.arange(3)), where)


def test_weights_are_numbers_as_people_write_them():
    table = weighted(["1,000.5", "2", "0"])
    table.take_weights("w")
    assert table.rows.weight.tolist() == [1000.5, 2.0, 0.0]
    assert table.rows.X.columns.tolist() == ["x"]


@pytest.mark.parametrize("bad", ["-1", "?", None])
def test_a_bad_weight_is_refused_with_its_line(bad):
    with pytest.raises(WorkflowError, match=r"^weight=w: line 4 has .*, which is not a weight\.$"):
        weighted(["1", "2", bad]).take_weights("w")


def test_class_weights_from_words():
    labels = np.array([0, 1])
    assert class_weights("balanced", labels) == "balanced"
    assert class_weights("0=1,1=2.5", labels) == {0: 1.0, 1: 2.5}
    with pytest.raises(WorkflowError, match=r"^class_weight=2: there is no such class; classes are 0, 1\.$"):
        class_weights({2: 1.0}, labels)
    with pytest.raises(WorkflowError, match="is neither balanced nor of the form"):
        class_weights("equal", labels)
