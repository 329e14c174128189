"""Decision rules of a fit: they are kept with the model, certified, and refused in one sentence."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.workflow import DecisionRule, WorkflowError
from surewood.workflow.decision_rules import cost_matrix

SMALL = {"n_estimators": 10, "max_layers": 1}


def credit(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    bad = (X[:, 0] + 0.6 * X[:, 1] > 1.0) ^ (rng.random(n) < 0.05)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["region"] = rng.choice(["north", "south"], n)
    frame["risk"] = np.where(bad, "bad", "good")
    return frame


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("credit")
    for name, n, seed in (("credit", 2000, 0), ("may", 800, 1)):
        credit(n, seed).to_csv(folder / f"{name}.csv", index=False)
    return folder


def fit(tables, rule, out=None):
    return workflow.fit(
        tables / "credit.csv",
        "risk",
        model="mddf",
        parameters=SMALL,
        n_jobs=1,
        holdout=0.4,
        rule=rule,
        out=out,
    )


def test_a_recall_is_kept_with_the_model(tables, tmp_path):
    result = fit(tables, DecisionRule(positive="bad", recall=0.75), tmp_path / "m")
    (entry,) = result.certificate.guarantees
    assert (entry.quantity, entry.value) == ("recall of 'bad'", 0.75)
    assert entry.delta == pytest.approx(0.045)
    found = workflow.predict(tmp_path / "m", tables / "may.csv", proba=True).frame
    threshold = result.model[-1].threshold
    assert ((found["probability of bad"] >= threshold) == (found["prediction"] == "bad")).all()
    again = workflow.certify(
        tmp_path / "m", tables / "may.csv", claims=["recall:bad", "error-by:region"]
    ).certificate
    assert again.guarantees[0].quantity == "recall of 'bad'"
    assert again.guarantees[1].quantity == "error in every region"
    assert any(
        "of the holdout rows are misclassified; the most probable class is wrong for" in note
        for note in result.notes
    )
    measured = [entry.method for entry in result.certificate.entries if entry.status.name == "ESTIMATE"]
    assert all(method.endswith(", without the threshold") for method in measured)
    explained = workflow.explain(tmp_path / "m", tables / "may.csv", 3)
    assert explained is not None


def test_abstention(tables, tmp_path):
    result = fit(tables, DecisionRule(abstain_error=0.12), tmp_path / "m")
    assert result.certificate.guarantees[0].quantity == "error among accepted rows"
    found = workflow.predict(tmp_path / "m", tables / "may.csv").frame
    assert set(found["prediction"]) <= {"bad", "good", "abstain"}
    assert any("are misclassified; the most probable class is wrong for" in note for note in result.notes)


def test_costs(tables, tmp_path):
    rule = DecisionRule(cost="bad:good=5,good:bad=1")
    result = fit(tables, rule, tmp_path / "m")
    assert [entry.quantity for entry in result.certificate.guarantees] == ["expected cost", "error"]
    plain = fit(tables, None)
    rows = tables / "may.csv"
    careful = workflow.predict(tmp_path / "m", rows).counts["bad"]
    assert careful > (plain.model.predict(pd.read_csv(rows)) == "bad").sum()
    (entry,) = workflow.certify(tmp_path / "m", rows, claims=["cost"]).certificate.guarantees
    assert entry.quantity == "expected cost"


def test_a_promise_that_cannot_be_kept_is_a_note_and_the_certificate_has_the_rest_of_delta(tables):
    result = fit(tables, DecisionRule(positive="bad", precision=0.999))
    assert any(note.startswith("No threshold guarantees precision of 'bad'") for note in result.notes)
    assert result.certificate.best.delta == pytest.approx(0.005)
    assert not hasattr(result.model[-1], "threshold")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"positive": "bad"}, "positive= needs recall="),
        ({"recall": 0.9, "cost": "a:b=1"}, "cost= cannot be combined"),
    ],
)
def test_rules_that_make_no_sense(rule, words):
    with pytest.raises(WorkflowError, match=words):
        DecisionRule(**rule)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bad=5", "is not TRUE:PREDICTED=COST"),
        ("bad:good=-1", "with a cost of at least 0"),
        ("bad:god=5", "'god' is not a class \\(bad, good\\)"),
        ("bad:bad=5", "a correct prediction costs nothing"),
    ],
)
def test_costs_that_cannot_be_read(text, words):
    with pytest.raises(WorkflowError, match=words):
        cost_matrix(text, ["bad", "good"])


def test_a_rule_needs_a_holdout(tables):
    with pytest.raises(WorkflowError, match="needs a holdout"):
        workflow.fit(
            tables / "credit.csv",
            "risk",
            model="mddf",
            parameters=SMALL,
            n_jobs=1,
            holdout=0,
            rule=DecisionRule(recall=0.9),
        )
