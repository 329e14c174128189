"""§11.5 through the command line: a class that only the holdout, and the future, has."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from tests.promises.tables import SMALL


def fitted(tmp_path, rare):
    """A model fitted without a class that `rare` of the holdout rows have; its own holdout scores."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = workflow.fit(tmp_path / "t.csv", "y", model="mddf", parameters=SMALL, n_jobs=1, random_state=0)
    held = frame.loc[result.holdout_rows]
    own = result.model.predict_proba(held[["a", "b"]])
    scores = own[np.arange(len(held)), (held["y"] == "yes").astype(int)]
    late = np.random.default_rng(1).random(len(held)) < rare
    facts = dict(result.facts)
    facts["holdout_scores"] = {"truth": np.where(late, -1.0, scores).tolist(), "largest": own.max(1).tolist()}
    return workflow.SavedModel(tmp_path, result.model, facts), tmp_path / "t.csv"


def kinds(model):
    """Every kind of set that the command has; of each content one row, of which some are of that class."""
    kept = model.facts["holdout_scores"]
    truth = np.array(kept["truth"])
    kept["sets"] = {
        "unit": list(range(truth.size)),
        "code": np.where(truth < 0, -1, 0).tolist(),
        "threshold": truth.tolist(),
        "adaptive": truth.tolist(),
    }
    for guarantee in ("pac", "marginal"):
        for score in ("threshold", "adaptive"):
            yield {"sets_guarantee": guarantee, "sets_score": score}


def test_sets_that_cannot_have_the_label_are_refused(tmp_path):
    model, table = fitted(tmp_path, rare=0.3)
    for kind in ({}, *kinds(model)):
        with pytest.raises(workflow.WorkflowError, match=r"^sets=0\.9 cannot be kept: .* does not know"):
            workflow.predict(model, table, sets=0.9, **kind)
    told = workflow.predict(model, table, sets=0.9, sets_by="class").notes
    assert "class yes: too few rows (0); is in every set." in told


def test_a_coverage_that_leaves_room_for_them_is_kept(tmp_path):
    model, table = fitted(tmp_path, rare=0.02)
    for kind in ({}, *kinds(model)):
        assert "set" in workflow.predict(model, table, sets=0.8, **kind).frame.columns
