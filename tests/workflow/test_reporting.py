"""The page made anew from a table that the model has not seen."""

import json

import pytest

from surewood import workflow
from tests.cli.command import messy_frame, write

SMALL = {"n_estimators": 5, "max_layers": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    frame = messy_frame(400)
    first, second = write(frame[:250], folder / "first.csv"), write(frame[200:], folder / "second.csv")
    workflow.fit(first, "treu?", model="mddf", parameters=SMALL, out=folder / "model", n_jobs=1)
    return folder, second


def test_rows_of_the_training_table_are_left_out(made):
    folder, table = made
    found = workflow.report(folder / "model", table, out=folder / "new", claims=["error,recall:ja"])
    assert sorted(path.name for path in found.files.values()) == ["card.md", "report.html", "report.json"]
    summary = json.loads(found.files["data"].read_text(encoding="utf-8"))
    assert 150 <= summary["scores"]["n"] < 200
    assert any("equal to training rows" in note for note in found.notes)
    assert summary["data"]["n_rows"] == 200
    quantities = [claim["quantity"] for claim in summary["certificate"]["claims"]]
    assert quantities == ["error", "recall of 'ja'"]
    assert summary["hardest"]["rows"][0]["row"].startswith("line ")


def test_the_page_replaces_the_one_beside_the_model(made):
    folder, table = made
    before = (folder / "model" / "report.html").read_text(encoding="utf-8")
    workflow.report(folder / "model", table)
    assert (folder / "model" / "report.html").read_text(encoding="utf-8") != before
    assert (folder / "model" / "model.surewood").exists()


def test_only_training_rows_are_one_sentence(made):
    folder, _ = made
    frame = messy_frame(400)[:30]
    seen = workflow.certify(folder / "model", write(frame, folder / "some.csv")).is_seen
    again = write(frame[seen], folder / "again.csv")
    with pytest.raises((workflow.WorkflowError, ValueError), match="training rows"):
        workflow.report(folder / "model", again, out=folder / "none")
