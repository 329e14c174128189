"""From a table to a model, a certificate and files, in Python."""

import dataclasses
import json

import pytest

import surewood
from surewood import workflow
from tests.workflow.conftest import SMALL


def test_fit_gives_model_certificate_and_paths(fitted, table):
    assert fitted.family == "mddf"
    assert fitted.choice is None
    assert fitted.certificate.best.status.name == "GUARANTEE"
    assert fitted.certificate.best.value > fitted.error
    assert fitted.facts["rows"] + fitted.facts["holdout_rows"] == 120
    assert sorted(fitted.files) == ["data", "model", "page"]
    again = surewood.load(fitted.files["model"])
    frame = workflow.labelled_table.read_rows(str(table))
    assert again.predict(frame).tolist() == fitted.model.predict(frame).tolist()
    summary = json.loads(fitted.files["data"].read_text(encoding="utf-8"))
    assert summary["scores"]["error"] == pytest.approx(fitted.error)
    assert summary["run"]["command"] is None


def test_results_cannot_be_changed(fitted):
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.family = "rcf"


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = workflow.fit("iris", model="mddf", parameters=SMALL, n_jobs=1, holdout=0)
    assert found.files == {}
    assert list(tmp_path.iterdir()) == []
    assert (found.error, found.facts["holdout"]) == (None, None)
    assert not any(entry.status.name == "GUARANTEE" for entry in found.certificate.entries)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"model": "svm"}, r"^model='svm' is unknown; choose among rcf, cascade, mddf\.$"),
        ({"n_jobs": 0}, r"^n_jobs=0 is not possible; -1 means all cores\.$"),
        ({"max_memory": "lots"}, r"^max_memory=lots is not a size; write for example 4GB or 500MB\.$"),
        ({"model": "mddf", "parameters": {"n_estimator": 3}}, r"^parameters=n_estimator: mddf has no such"),
        ({"parameters": {"n_estimator": 3}}, r"^parameters=n_estimator: no family has such a parameter; did"),
        ({"holdout": 0.001}, r"^holdout=0\.001 of 150 rows is less than one row; take more, or 0\.$"),
        ({"out": __file__}, r"^out=.*test_fitting\.py is a file; name a folder\.$"),
        ({"cluster": "scheduler"}, r"^cluster=scheduler: the address of a Dask scheduler is"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments, sentence):
    with pytest.raises(workflow.WorkflowError, match=sentence):
        workflow.fit("iris", **arguments)


def test_the_default_folder_is_named_after_the_table():
    assert workflow.fitting.default_folder("x/churn.parquet").name == "surewood-churn"
