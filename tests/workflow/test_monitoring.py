"""Monitoring of a saved model, batch by batch, and its page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surewood import workflow
from surewood.certify import Monitor
from surewood.workflow import WorkflowError
from surewood.workflow.monitoring import guaranteed_error, write_monitor_page
from tests.cli.command import messy_frame


@pytest.fixture
def batch(tmp_path):
    def write(seed, n=150, labels=True, wrong=False):
        frame = messy_frame(n, seed=seed)
        if wrong:
            frame["treu?"] = frame["treu?"].map({"ja": "nein", "nein": "ja"})
        if not labels:
            frame = frame.drop(columns="treu?")
        path = tmp_path / f"batch-{seed}-{labels}-{wrong}.csv"
        frame.to_csv(path, index=False)
        return path

    return write


def test_batches_are_added_up_until_an_alarm(folder, batch, tmp_path):
    state, page = tmp_path / "state.json", tmp_path / "monitor.html"
    quiet = workflow.monitor(folder, batch(11), state=state, page=page, limit=0.3)
    assert quiet.verdict == "No alarm."
    assert quiet.look.n_labelled == 150
    loud = workflow.monitor(folder, batch(12, n=400, wrong=True), state=state, page=page)
    assert loud.look.error_alarm
    assert loud.limit == 0.3
    assert loud.look.n_labelled == 550
    text = page.read_text(encoding="utf-8")
    assert "ALARM: the error is above the limit of 30" in text
    assert "limit of the error</span>" in text
    assert "guaranteed" not in text
    assert "Evidence that the error rose" in text
    assert json.loads(state.read_text())["n_labelled"] == 550
    with pytest.raises(WorkflowError, match="this batch was seen before"):
        workflow.monitor(folder, batch(12, n=400, wrong=True), state=state)


def test_copies_must_be_known_words(folder, batch, tmp_path):
    with pytest.raises(WorkflowError, match="copies must be one of check, count, leave_out"):
        workflow.monitor(folder, batch(16), state=tmp_path / "third.json", limit=0.3, copies="never")


def test_without_labels_only_the_rows_are_watched(folder, batch, tmp_path):
    found = workflow.monitor(folder, batch(13, labels=False), state=tmp_path / "s.json", limit=0.4)
    assert not found.labelled
    assert found.look.n_labelled == 0
    assert found.look.n_scored == 150
    assert "no labels in this batch: only whether rows look different is watched." in found.notes
    assert found.to_dict()["alarm"] is False


def test_the_state_of_another_model_is_refused(folder, batch, tmp_path):
    state = tmp_path / "s.json"
    workflow.monitor(folder, batch(14), state=state, limit=0.4)
    state.write_text(state.read_text().replace('"model": "', '"model": "x'))
    with pytest.raises(ValueError, match="is the state of another model; give another file"):
        workflow.monitor(folder, batch(15), state=state)


def test_a_batch_with_other_columns_is_refused(folder, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="column"):
        workflow.monitor(folder, path, state=tmp_path / "s.json", limit=0.4)


def test_the_smallest_guaranteed_error_is_watched():
    def entry(value, quantity="error", status="GUARANTEE"):
        return {"status": status, "quantity": quantity, "value": value}

    entries = [
        entry(0.2),
        entry(0.1),
        entry(0.05, status="ESTIMATE"),
        entry(0.01, "recall of 'a'"),
        entry(1.0),
    ]
    assert guaranteed_error({"entries": entries}) == 0.1
    assert guaranteed_error({"entries": [entry(1.0)]}) is None


def test_the_page_shows_both_paths_and_escapes_names(tmp_path):
    rng = np.random.default_rng(0)
    monitor = Monitor(0.1, holdout_scores=rng.random(100))
    monitor.add(errors=rng.random(50) < 0.1, scores=rng.random(50))
    page = tmp_path / "m.html"
    found = workflow.Monitoring(monitor.look(), 0.1, 50, True, state=None, page=page, notes=())
    write_monitor_page(monitor, found, "<b>model</b>")
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Evidence that rows look different" in text
    assert "Limits of the error so far" in text
    assert "No alarm." in text
    assert "<b>model</b>" not in text


def test_the_page_can_be_written_later(folder, batch, tmp_path):
    state, page = tmp_path / "state.json", tmp_path / "later.html"
    with pytest.raises(WorkflowError, match=r"there is no state file .*: no batch was looked at yet\.$"):
        workflow.monitor(folder, state=state, page=page)
    seen = workflow.monitor(folder, batch(11), state=state, limit=0.3)
    before = state.read_bytes()
    again = workflow.monitor(folder, state=state, page=page)
    assert (again.look, again.verdict, state.read_bytes()) == (seen.look, seen.verdict, before)
    assert "Monitor of" in page.read_text(encoding="utf-8")
    with pytest.raises(WorkflowError, match=r"^without a batch there is nothing to do; page="):
        workflow.monitor(folder, state=state)
