"""Comparison on the same folds: scores, the test against the best baseline, page, certificate, peers."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from surewood import workflow
from surewood.workflow.comparing import (
    Scores,
    best_two,
    holm,
    judge_against_best_baseline,
    write_comparison,
)
from surewood.workflow.families import FitSettings
from surewood.workflow.peers import PEERS
from tests.promises.tables import SMALL


def test_compare_returns_scores_and_writes_a_page(tmp_path):
    found = workflow.compare("iris", folds=2, only=["rf", "hgb"], n_jobs=1, out=tmp_path / "page.html")
    assert [one.name for one in found.scores] == ["rf", "hgb"]
    assert found.best_baseline is None  # nothing of ours is in the comparison
    assert found.facts["rows"] == 120
    assert found.notes[0].startswith("30 rows, the holdout of a fit with the same seed, are kept out")
    assert "Comparison on iris" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_metric_is_one_of_three():
    with pytest.raises(workflow.WorkflowError, match=r"^metric=f1: choose among error, auc, log_loss\.$"):
        workflow.compare("iris", metric="f1")


def test_what_cannot_be_compared_is_one_sentence():
    with pytest.raises(
        workflow.WorkflowError, match=r"^only=svm: choose among surewood, rcf, cascade, mddf, rf, hgb"
    ):
        workflow.compare("iris", only=["svm"])
    with pytest.raises(workflow.WorkflowError, match=r"has 36 rows; take folds=36 or remove those rows\.$"):
        workflow.compare("wine", folds=60, only=["rf"])


def test_fit_and_compare_count_the_same_columns(tmp_path):
    """An identifier is no column that a model uses; one sentence says so."""
    data = load_iris(as_frame=True)
    table = data.frame.assign(id=np.random.default_rng(0).permutation(5000)[:150])
    table.to_csv(tmp_path / "iris.csv", index=False)
    fitted = workflow.fit(tmp_path / "iris.csv", "target", model="mddf", parameters=SMALL, n_jobs=1)
    found = workflow.compare(tmp_path / "iris.csv", "target", folds=2, only=["rf"], n_jobs=1)
    assert fitted.facts["columns"] == found.facts["columns"] == 4
    about = [note for note in fitted.notes if "'id'" in note]
    assert about == ["column 'id' is not used: an identifier, by its name and its distinct values."]


def test_a_clear_loss_is_called_worse():
    def entrant(name, ours, errors):
        ones = tuple(1.0 for _ in errors)
        return Scores(name, name, ours, tuple(errors), ones, ones, ones)

    worse = entrant("a", True, [0.30, 0.31, 0.29, 0.30, 0.32])
    equal = entrant("b", True, [0.10, 0.12, 0.09, 0.11, 0.10])
    peers = [entrant("p", False, [0.10, 0.11, 0.10, 0.10, 0.11]), entrant("q", False, [0.2] * 5)]
    splits = [(range(80), range(20))] * 5
    judged, best = judge_against_best_baseline([worse, equal, *peers], splits)
    assert best == "p"
    assert [one.verdict for one in judged] == ["worse", "no difference shown", "", ""]


def test_equal_differences_in_two_folds_show_nothing():
    def entrant(name, ours, errors):
        return Scores(name, name, ours, errors, (1.0, 1.0), (1.0, 1.0), (1.0, 1.0))

    splits = [(range(80), range(20))] * 2
    judged, _ = judge_against_best_baseline(
        [entrant("a", True, (0.10, 0.12)), entrant("p", False, (0.11, 0.13))], splits
    )
    assert (judged[0].p_value, judged[0].verdict) == (0.5, "no difference shown")


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_another_metric_picks_another_baseline_and_never_the_floor():
    def entrant(name, ours, errors, aucs, floor=False):
        ones = tuple(1.0 for _ in errors)
        return Scores(name, name, ours, tuple(errors), ones, ones, ones, tuple(aucs), floor)

    ours = entrant("a", True, [0.2, 0.21, 0.2], [0.90, 0.91, 0.90])
    peers = [
        entrant("p", False, [0.1, 0.11, 0.1], [0.7, 0.71, 0.7]),
        entrant("q", False, [0.2, 0.2, 0.2], [0.95, 0.95, 0.96]),
        entrant("majority", False, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], floor=True),
    ]
    splits = [(range(80), range(20))] * 3
    assert judge_against_best_baseline([ours, *peers], splits)[1] == "p"
    judged, best = judge_against_best_baseline([ours, *peers], splits, "auc")
    assert best == "q"
    assert judged[0].difference > 0  # a smaller area is worse


@pytest.fixture(scope="module")
def result():
    return workflow.compare("iris", folds=2, only=["hgb"], n_jobs=1).to_dict()


def test_the_page_has_the_numbers(result, tmp_path):
    write_comparison(result, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "vs. best baseline" in page
    assert "histogram boosting" in page
    assert page.count('role="tab"') == 5
    assert "A dot per fold" in page


def test_the_picture_is_a_png(result, tmp_path):
    pytest.importorskip("matplotlib")
    write_comparison(result, tmp_path / "new" / "picture.png")
    assert (tmp_path / "new" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_picture_is_refused(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(workflow.WorkflowError, match=r"needs matplotlib .*; an \.html does not\.$"):
        write_comparison(result, tmp_path / "picture.png")


def test_the_comparison_certifies_the_best_two():
    found = workflow.compare("wine", folds=2, only=["mddf", "rf"], n_jobs=1, certify=True)
    certificate = found.facts["certificate"]
    assert certificate["model"] == "mddf and rf"
    assert found.facts["rows"] == 178 - 36 - 28  # without the holdout of a later fit
    assert "28 rows were held out from the comparison for the guarantee." in found.notes
    assert certificate["entries"][0]["n"] <= 28


def test_two_are_needed():
    assert best_two({"a": (0.3, True), "b": (0.1, True)}) == ("b", "a")
    with pytest.raises(workflow.WorkflowError, match="certify=True needs at least two classifiers"):
        best_two({"a": (0.3, True)})


@pytest.mark.parametrize("name", ["rf", "hgb", "logreg", "catboost"])
def test_categories_missing_values_and_odd_names(name):
    peer = next(peer for peer in PEERS if peer.name == name)
    if not peer.is_installed:
        pytest.skip(f"{peer.package} is not installed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"[x]<": rng.normal(size=60), "stadt": pd.Categorical(rng.choice(["a", "ß"], 60))})
    X.loc[0, "stadt"] = None
    y = pd.Series(np.where(X["[x]<"] > 0, "ja", "nein"))
    model = peer.estimator(FitSettings(0, 1), 60, 2).fit(X, y)
    assert model.classes_.tolist() == ["ja", "nein"]
    proba = model.predict_proba(X)
    assert (model.classes_[proba.argmax(axis=1)] == y).mean() > 0.9


def test_the_majority_is_a_floor_that_knows_frequencies_only():
    peer = next(peer for peer in PEERS if peer.floor)
    X, y = pd.DataFrame({"a": range(4)}), pd.Series(["n", "n", "n", "y"])
    model = peer.estimator(FitSettings(0, 1), 4, 2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.25]] * 4)
