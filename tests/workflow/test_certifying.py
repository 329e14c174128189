"""Certificates from tables, claims in words, and the page made anew from rows that the model has not seen."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.workflow import WorkflowError, open_model
from surewood.workflow.certifying import read_claim_words
from tests.cli.command import messy_frame, write
from tests.workflow.conftest import SMALL


def test_training_rows_are_recognized_and_the_remedy_gives_a_guarantee(folder, table):
    found = workflow.certify_model(folder, table)
    assert found.seen == 0.8
    assert found.certificate.best is None
    assert found.certificate.verdict.startswith("no guarantee: 96 of 120 holdout rows are training rows")
    left = workflow.certify_model(folder, table, copies="leave_out")
    assert left.certificate.best.n == len(left.counted) == 24
    assert left.certificate.best.population == "rows that are not copies of training rows"


def test_only_training_rows_give_no_guarantee(fitted, folder, table, tmp_path):
    frame = pd.read_csv(table).drop(fitted.holdout_rows)
    frame.to_csv(tmp_path / "training.csv", index=False)
    found = workflow.certify_model(folder, tmp_path / "training.csv")
    assert found.seen == 1.0
    assert found.certificate.best is None


def test_groups_of_the_training_rows_do_not_count(table, tmp_path):
    frame = pd.read_csv(table).assign(who=lambda rows: np.arange(len(rows)) % 24)
    frame.to_csv(tmp_path / "all.csv", index=False)
    result = workflow.fit(
        tmp_path / "all.csv",
        "treu?",
        model="mddf",
        groups="who",
        parameters=SMALL,
        n_jobs=1,
        out=tmp_path / "m",
    )
    assert result.certificate.guarantees[0].unit == "groups"
    frame.iloc[result.holdout_rows].to_csv(tmp_path / "held.csv", index=False)
    frame.drop(result.holdout_rows).to_csv(tmp_path / "training.csv", index=False)
    again = workflow.certify_model(tmp_path / "m", tmp_path / "all.csv")
    assert again.n_rows == len(result.holdout_rows)
    assert again.certificate.guarantees[0].n == result.certificate.guarantees[0].n
    assert any("rows of groups that the model was trained with" in note for note in again.notes)
    with pytest.raises(workflow.WorkflowError, match="every group was in the training rows"):
        workflow.certify_model(tmp_path / "m", tmp_path / "training.csv")
    frame.drop(columns="who").to_csv(tmp_path / "bare.csv", index=False)
    bare = workflow.certify_model(tmp_path / "m", tmp_path / "bare.csv")
    assert any("trained with groups=who, which this table lacks" in note for note in bare.notes)


def test_new_rows_give_one_and_several_models_weaken_it(folder, tmp_path):
    fresh = tmp_path / "fresh.csv"
    messy_frame(80, seed=5).to_csv(fresh, index=False)
    one, ten = (workflow.certify_model(folder, fresh, n_models=n) for n in (1, 10))
    assert one.seen == 0
    assert one.n_rows == 80
    assert one.certificate.best.value < ten.certificate.best.value


def test_another_column_is_refused(folder, table):
    with pytest.raises(workflow.WorkflowError, match=r"none of the model's classes \('ja', 'nein'\)"):
        workflow.certify_model(folder, table, target="Stadt")


def test_words_become_claims(folder):
    saved, frame = open_model(folder), pd.DataFrame({"Stadt": ["a", None]})
    words = ["error,recall:ja", "balanced_accuracy", "error_by:Stadt", "cost", "specificity:ja,log-loss"]
    claims = read_claim_words(words, "ja:nein=3", saved, frame)
    assert [claim.quantity for claim in claims] == [
        "error",
        "recall",
        "balanced_accuracy",
        "error_by",
        "cost",
        "specificity",
        "log_loss",
    ]
    assert claims[4].cost.tolist() == [[0, 3], [1, 0]]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        (
            "recall:vielleicht",
            "claim=recall:vielleicht: .*does not know class 'vielleicht'; it knows ja, nein",
        ),
        ("error_by:Land?", "claim=error_by:Land\\?: the table has no column 'Land\\?'"),
        ("cost", "claim=cost needs cost="),
        ("luck", "claim=luck is unknown; choose among error, accuracy, balanced_accuracy, .*, error_by.$"),
    ],
)
def test_words_that_cannot_be_read(folder, word, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        read_claim_words([word], None, open_model(folder), pd.DataFrame({"Stadt": ["a"]}))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    frame = messy_frame(400)
    first, second = write(frame[:250], folder / "first.csv"), write(frame[200:], folder / "second.csv")
    workflow.fit(first, "treu?", model="mddf", parameters=SMALL, out=folder / "model", n_jobs=1)
    return folder, second


def test_rows_of_the_training_table_are_left_out(made):
    folder, table = made
    found = workflow.make_report(
        folder / "model", table, out=folder / "new", claims=["error,recall:ja"], copies="leave_out"
    )
    assert sorted(path.name for path in found.files.values()) == ["card.md", "report.html", "report.json"]
    summary = json.loads(found.files["data"].read_text(encoding="utf-8"))
    assert 150 <= summary["scores"]["n"] < 200
    assert any("equal training rows" in note for note in found.notes)
    assert summary["data"]["n_rows"] == 200
    quantities = [claim["quantity"] for claim in summary["certificate"]["claims"]]
    assert quantities == ["error", "recall of 'ja'"]
    assert summary["hardest"]["rows"][0]["row"].startswith("line ")


def test_the_page_replaces_the_one_beside_the_model(made):
    folder, table = made
    before = (folder / "model" / "report.html").read_text(encoding="utf-8")
    workflow.make_report(folder / "model", table, copies="leave_out")
    assert (folder / "model" / "report.html").read_text(encoding="utf-8") != before
    assert (folder / "model" / "model.surewood").exists()


def test_only_training_rows_are_one_sentence(made):
    folder, _ = made
    again = write(messy_frame(400)[:30], folder / "again.csv")
    with pytest.raises(workflow.WorkflowError, match="of 30 holdout rows are training rows, about 0 would"):
        workflow.make_report(folder / "model", again, out=folder / "none")


def test_the_page_is_about_the_table_and_the_holdout(fitted):
    summary = json.loads(fitted.files["data"].read_text(encoding="utf-8"))
    assert summary["data"]["name"] == fitted.facts["table"]
    assert summary["data"]["n_holdout"] == fitted.facts["holdout_rows"]
    assert summary["scores"]["sample"] == "holdout"
    assert summary["certificate"]["entries"][0]["value"] == fitted.certificate.entries[0].value
    assert "Confusion matrix" in fitted.files["page"].read_text(encoding="utf-8")
