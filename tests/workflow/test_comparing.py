"""Comparison on the same folds."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import workflow
from tests.promises.tables import SMALL


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
