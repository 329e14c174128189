"""``surewood fit`` and ``predict`` on Parquet tables that are streamed."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import surewood
from surewood.cli import app
from surewood.tables import workspace
from surewood.workflow import fit, large_table
from surewood.workflow.errors import WorkflowError
from tests.contract.parquet_tables import mixed_frame, write_parts

FAST = ["--model", "mddf", "--set", "n_estimators=2", "--set", "max_layers=1", "--set", "forests=['extra']"]


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(autouse=True)
def no_page(monkeypatch):
    """The page is drawn on the sample, as any other; that takes longer than all the rest."""
    monkeypatch.setattr("surewood.workflow.report_files.write_report", lambda *arguments, **more: None)


@pytest.fixture
def folder(tmp_path):
    return write_parts(mixed_frame(400).drop(columns="many"), tmp_path / "table")


def test_a_folder_is_streamed_into_a_model_and_back_into_a_file(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(large_table, "SAMPLE_ROWS", 150)
    monkeypatch.setattr(large_table, "HELD_ROWS", 60)
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
    np.testing.assert_allclose(out.iloc[:, 1:], pipeline.predict_proba(X))
    remembered = pipeline[-1].remembered_rows_.contains(pipeline[0].transform(X))
    assert remembered.sum() >= facts["rows"]  # all training rows are remembered


def test_a_large_file_is_streamed_and_a_small_one_is_not(folder, monkeypatch):
    part = str(folder / "part-0.parquet")
    assert not large_table.is_large(part)
    monkeypatch.setattr(large_table, "STREAM_BYTES", 100)
    assert large_table.is_large(part)
    assert not large_table.is_large("absent.parquet")
    assert not large_table.is_large("wine")


def test_fewer_rows_on_demand(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(large_table, "SAMPLE_ROWS", 100)
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
