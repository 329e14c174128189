"""Scores of the holdout that a model file keeps, and sets made of them."""

import numpy as np
import pytest

from surewood import workflow
from surewood.workflow import WorkflowError
from surewood.workflow.holdout_scores import set_limit


def test_sets_cover_the_labels(tmp_path):
    workflow.fit(
        "letter",
        model="mddf",
        parameters={"n_estimators": 5, "max_layers": 1},
        max_rows=1500,
        n_jobs=1,
        out=tmp_path / "m",
        holdout=0.2,
    )
    found = workflow.predict(tmp_path / "m", "letter", sets=0.9)
    assert found.frame["set"].str.len().min() >= 0
    inside = [p in s.split("|") for p, s in zip(found.frame["prediction"], found.frame["set"]) if s]
    assert np.mean(inside) == 1.0


def test_what_cannot_be_kept_is_said(fitted):
    with pytest.raises(WorkflowError, match=r"sets=0\.99: .* holdout rows are too few"):
        set_limit(fitted.facts, 0.99)
    with pytest.raises(WorkflowError, match="sets=2 is not a coverage"):
        set_limit(fitted.facts, 2)
    with pytest.raises(WorkflowError, match=r"sets=0\.9 needs the holdout of the fit"):
        set_limit({}, 0.9)


def test_the_limit_keeps_the_coverage():
    scores = np.random.default_rng(0).random(2000)
    limit = set_limit({"holdout_scores": {"truth": scores.tolist(), "largest": []}}, 0.9)
    assert 0.07 < limit < 0.1


def test_rows_of_a_class_that_the_model_does_not_know_cannot_be_covered():
    scores = [-1.0] * 20 + [0.5] * 80
    facts = {"holdout_scores": {"truth": scores, "largest": []}}
    with pytest.raises(
        WorkflowError, match=r"^sets=0\.9 cannot be kept: 20 of 100 holdout rows have a class that the model"
    ):
        set_limit(facts, 0.9)
    assert set_limit(facts, 0.6) == 0.5
