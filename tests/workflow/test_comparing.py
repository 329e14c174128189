"""Comparison on the same folds, and the test against the best baseline."""

import pytest

from surewood import workflow
from surewood.workflow.comparing import Scores, holm, judge_against_best_baseline


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


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_compare_returns_scores_and_writes_a_page(tmp_path):
    found = workflow.compare("iris", folds=2, only=["rf", "hgb"], n_jobs=1, out=tmp_path / "page.html")
    assert [one.name for one in found.scores] == ["rf", "hgb"]
    assert found.best_baseline is None  # nothing of ours is in the comparison
    assert found.facts["rows"] == 150
    assert "Comparison on iris" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_cannot_be_compared_is_one_sentence():
    with pytest.raises(
        workflow.WorkflowError, match=r"^only=svm: choose among surewood, rcf, cascade, mddf, rf, hgb"
    ):
        workflow.compare("iris", only=["svm"])
    with pytest.raises(workflow.WorkflowError, match=r"has 48 rows; take folds=48 or remove those rows\.$"):
        workflow.compare("wine", folds=60, only=["rf"])
