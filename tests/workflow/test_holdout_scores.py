"""Scores of the holdout that a model file keeps, and sets made of them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.certify import PredictionSets
from surewood.workflow import WorkflowError
from surewood.workflow.holdout_scores import kept_sets
from tests.promises.tables import SMALL

MODEL = SimpleNamespace(classes_=np.array(["a", "b"]))


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
        kept_sets(MODEL, fitted.facts, 0.99)
    with pytest.raises(WorkflowError, match="sets=2 is not a coverage"):
        kept_sets(MODEL, fitted.facts, 2)
    with pytest.raises(WorkflowError, match=r"sets=0\.9 needs the holdout of the fit"):
        kept_sets(MODEL, {}, 0.9)
    with pytest.raises(WorkflowError, match=r"^sets_guarantee=sure: choose among pac, marginal\.$"):
        kept_sets(MODEL, fitted.facts, 0.9, "sure")
    with pytest.raises(WorkflowError, match=r"^sets_by=group: choose among class\.$"):
        kept_sets(MODEL, fitted.facts, 0.9, by="group")


def old_facts(scores):
    """Of a model file that an earlier version wrote."""
    return {"holdout_scores": {"truth": list(scores), "largest": []}}


def test_the_limit_keeps_the_coverage():
    facts = old_facts(np.random.default_rng(0).random(2000))
    (limit,) = kept_sets(MODEL, facts, 0.9).thresholds_
    (marginal,) = kept_sets(MODEL, facts, 0.9, "marginal").thresholds_
    assert 0.07 < limit < marginal < 0.11
    with pytest.raises(WorkflowError, match=r"no scores for sets_by and sets_score; fit it again\.$"):
        kept_sets(MODEL, facts, 0.9, score="adaptive")


def test_rows_of_a_class_that_the_model_does_not_know_cannot_be_covered():
    facts = old_facts([-1.0] * 20 + [0.5] * 80)
    with pytest.raises(
        WorkflowError, match=r"^sets=0\.9 cannot be kept: 20 of 100 holdout rows have a class that the model"
    ):
        kept_sets(MODEL, facts, 0.9)
    assert kept_sets(MODEL, facts, 0.6).thresholds_ == 0.5


@pytest.mark.parametrize("score", ["threshold", "adaptive"])
@pytest.mark.parametrize("by", [None, "class"])
@pytest.mark.parametrize("guarantee", ["pac", "marginal"])
def test_the_command_gives_the_sets_of_python(tmp_path, guarantee, by, score):
    """Those of `PredictionSets`, fitted to the holdout, with the same claim."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=600) > 0, "yes", "no")
    frame = pd.concat([frame, frame.iloc[:40].assign(y="no")])  # contents with two labels
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = workflow.fit(
        tmp_path / "t.csv", "y", model="mddf", parameters=SMALL, n_jobs=1, random_state=0, holdout=0.4
    )
    preparer, model = result.model[0], result.model[-1]
    held = frame.iloc[result.holdout_rows]
    sets = PredictionSets(model, 0.2, guarantee, by, score).fit(
        preparer.transform(held[["a", "b"]]), held["y"]
    )
    found = workflow.predict(
        workflow.SavedModel(tmp_path, result.model, result.facts),
        tmp_path / "t.csv",
        sets=0.8,
        sets_guarantee=guarantee,
        sets_by=by,
        sets_score=score,
    )
    expected = ["|".join(one) for one in sets.label_sets(preparer.transform(frame[["a", "b"]]))]
    assert found.frame["set"].tolist() == expected
    assert found.notes[0] == sets.statement_
    assert sets.statement_.startswith("GUARANTEE: ")
