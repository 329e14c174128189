"""The commands and the page: copied files, training rows as a holdout, late classes, costs, comparisons."""

import json

import numpy as np
import pandas as pd
import pytest

from surewood import report, workflow
from surewood.certify import certify
from surewood.workflow import comparing
from tests.cli.command import run
from tests.promises.population import NOISE, draw, memorising_forest
from tests.promises.tables import QUICK, SMALL, fit, frame, write


def command(*arguments):
    shown = run(*arguments, "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def values(certificate):
    return [entry["value"] for entry in certificate["entries"] if entry["status"] == "GUARANTEE"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("five")
    path = write(frame(400, 0), folder / "train.csv")
    command("fit", path, "--target", "y", "--holdout", 0, *QUICK, "--out", folder / "model")
    return folder


def test_a_copied_file_and_its_remedy(tmp_path):
    copied = pd.concat([frame(300, 1)] * 5).sample(frac=1.0, random_state=1)
    path = write(copied, tmp_path / "copied.csv")
    shown = command("fit", path, "--target", "y", *QUICK, "--out", tmp_path / "model")
    assert all(value >= NOISE for value in values(shown["certificate"]))
    assert any("the table looks copied" in note and "drop_duplicates" in note for note in shown["notes"])
    again = command("fit", path, "--target", "y", "--drop-duplicates", *QUICK, "--out", tmp_path / "once")
    assert [e["n"] for e in again["certificate"]["entries"] if e["status"] == "GUARANTEE"] == [60]
    assert "1,200 repeated rows removed before dividing the rows." in again["notes"]
    assert again["certificate"]["assumptions"][0].startswith("repeated rows, which were removed, are one row")


@pytest.mark.parametrize("times", [2, 5])
def test_a_copied_file_without_a_measured_number_and_its_remedies(tmp_path, times):
    """Once it is divided the copies look like ordinary equal rows of whole numbers."""
    rng = np.random.default_rng(times)
    once = pd.DataFrame(rng.integers(0, 50, (400, 3)), columns=list("abc"))
    once["y"] = np.where(rng.random(400) < 0.5, "no", "yes")
    path = write(pd.concat([once] * times).sample(frac=1.0, random_state=0), tmp_path / "copied.csv")
    refused = fit(path)
    assert refused.certificate.guarantees == ()
    assert refused.certificate.verdict.startswith("no guarantee: every row of the table, its label included")
    assert any("drop_duplicates=True removes" in note for note in refused.notes)
    assert workflow.compare(
        path, "y", folds=2, only=["rf", "logreg"], n_jobs=1, certify=True
    ).facts["certificate"]["withheld"][0]["code"] == "ENTERED_SEVERAL_TIMES"  # fmt: skip
    assert fit(path, drop_duplicates=True).certificate.best.n == 80
    assert fit(path, copies="count").certificate.best.n == 80 * times  # the caller's word
    noisy = pd.concat([once] * times).assign(y=rng.choice(["no", "yes"], 400 * times))  # replicates
    assert fit(write(noisy, tmp_path / "t.csv")).certificate.best.n == 80 * times


def test_a_holdout_that_is_half_training_rows_and_its_remedy(fitted):
    half = write(pd.concat([frame(400, 0).head(196), frame(204, 2)]), fitted / "half.csv")
    refused = command("certify", fitted / "model", half)
    assert values(refused) == []
    assert refused["verdict"].startswith("no guarantee: 196 of 400 holdout rows are training rows")
    left = command("certify", fitted / "model", half, "--copies", "leave_out")
    assert [e["n"] for e in left["entries"] if e["status"] == "GUARANTEE"] == [204]
    assert all(value >= NOISE for value in values(left))
    assert values(command("certify", fitted / "model", fitted / "train.csv")) == []


def test_a_cost_leads_the_verdict(tmp_path):
    path = write(frame(1500, 4), tmp_path / "t.csv")
    rule = workflow.DecisionRule(cost="yes:no=5,no:yes=1")
    verdict = fit(path, rule=rule).certificate.verdict
    assert verdict.startswith("guaranteed: expected cost at most ")
    assert "the best constant decision" in verdict


def test_compare_keeps_out_the_holdout_of_the_later_fit(tmp_path, monkeypatch):
    path = write(frame(300, 5), tmp_path / "t.csv")
    seen = []
    make_splits = comparing.make_splits

    def looking(y, *arguments):
        seen.append(y)
        return make_splits(y, *arguments)

    monkeypatch.setattr(comparing, "make_splits", looking)
    workflow.compare(path, "y", folds=2, only=["rf"], n_jobs=1)
    held = fit(path).holdout_rows
    assert seen[0].tolist() == frame(300, 5)["y"].drop(held).tolist()


def test_compare_holds_rows_out_before_it_looks_at_labels_and_after_copies_were_removed(tmp_path):
    rows = frame(315, 5)
    rows.loc[rows.index[:15], "y"] = [f"single {k}" for k in range(15)]
    path = write(pd.concat([rows, rows.tail(100)]), tmp_path / "t.csv")
    found = workflow.compare(
        path, "y", folds=2, only=["rf", "logreg"], n_jobs=1, certify=True, drop_duplicates=True
    )
    entry = found.facts["certificate"]["entries"][0]
    assert entry["n"] == (315 - 63) // 5  # classes of one row among them
    assert entry["population"] == "new rows"
    assert any("one row each, which were dropped" in note for note in found.notes)


def sections(holdout, **options):
    """What abstaining and sets guarantee on the page."""
    X, y = draw(300, 0)
    forest = memorising_forest(X, y)
    certificate = certify(forest, *holdout, **options)
    summary = report.build_summary(forest, X, y, certificate=certificate, holdout=holdout)
    assert summary["certificate"]["sentence"].lower().startswith(certificate.verdict.lower())
    return summary["abstention"], summary["sets"]


def test_pages_of_training_rows_guarantee_nothing():
    X, y = draw(300, 0)
    new, labels = draw(200, 1)
    assert sections((X, y)) == (None, None)
    assert sections((np.r_[X, new], np.r_[y, labels])) == (None, None)
    abstention, sets = sections((np.r_[X, new], np.r_[y, labels]), copies="leave_out")
    assert abstention is None or all(level["error"] >= NOISE for level in abstention["levels"])
    assert sets["levels"]
    holdout = draw(400, 3)
    alone, of_fifty = sections(holdout)[1], sections(holdout, n_models=50)[1]
    assert of_fifty["delta"] == alone["delta"] / 50


@pytest.mark.parametrize("rare", [0.3, 0.02])
def test_sets_of_a_class_that_was_seen_too_late(tmp_path, rare):
    rows = frame(400, 6)
    held = fit(write(rows, tmp_path / "t.csv")).holdout_rows
    late = np.random.default_rng(1).random(400) < rare
    rows.loc[np.isin(np.arange(400), held) & late, "y"] = "late"
    path = write(rows, tmp_path / "late.csv")
    result = workflow.fit(path, "y", model="mddf", parameters=SMALL, n_jobs=1)
    saved = workflow.SavedModel(tmp_path, result.model, result.facts)
    told = workflow.predict(saved, path, coverage=0.6, sets_by="class").notes
    assert any("Not guaranteed for late: unknown to the model." in note for note in told)
    if rare == 0.3:
        for score in ("threshold", "adaptive"):
            with pytest.raises(
                workflow.WorkflowError, match=r"^coverage=0\.9 cannot be kept: .* does not know"
            ):
                workflow.predict(saved, path, coverage=0.9, sets_score=score)
    else:
        assert "set" in workflow.predict(saved, path, coverage=0.8).frame.columns
