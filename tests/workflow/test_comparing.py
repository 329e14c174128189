"""Comparison on the same folds."""

import pytest

from surewood import workflow


def test_compare_returns_scores_and_writes_a_page(tmp_path):
    found = workflow.compare("iris", folds=2, only=["rf", "hgb"], n_jobs=1, out=tmp_path / "page.html")
    assert [one.name for one in found.scores] == ["rf", "hgb"]
    assert found.best_baseline is None  # nothing of ours is in the comparison
    assert found.facts["rows"] == 150
    assert "Comparison on iris" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_metric_is_one_of_three():
    with pytest.raises(workflow.WorkflowError, match=r"^metric=f1: choose among error, auc, log_loss\.$"):
        workflow.compare("iris", metric="f1")


def test_what_cannot_be_compared_is_one_sentence():
    with pytest.raises(
        workflow.WorkflowError, match=r"^only=svm: choose among surewood, rcf, cascade, mddf, rf, hgb"
    ):
        workflow.compare("iris", only=["svm"])
    with pytest.raises(workflow.WorkflowError, match=r"has 48 rows; take folds=48 or remove those rows\.$"):
        workflow.compare("wine", folds=60, only=["rf"])
