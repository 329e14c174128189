"""Training on a divided table: holdout scores that a model file keeps, and decision rules."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold
from sklearn.naive_bayes import GaussianNB

from surewood import BinnedForestClassifier, MarginDeepForestClassifier, workflow
from surewood.base.folds import given_splits
from surewood.certify import PredictionSets
from surewood.workflow import DecisionRule, WorkflowError
from surewood.workflow.columns import ColumnOptions
from surewood.workflow.deciding import cost_matrix
from surewood.workflow.families import Family
from surewood.workflow.holdout_scores import kept_sets
from surewood.workflow.labelled_table import read_for_training
from surewood.workflow.training import certificate_of, limit_rows, predict_in_blocks, prepare, train
from tests.promises.tables import SMALL


@pytest.fixture(scope="module")
def trained():
    table = read_for_training("iris", holdout=0.4, random_state=0)
    return table, train(table, prepare(table), BinnedForestClassifier(10, random_state=0))


def test_what_is_measured_is_measured_on_the_holdout(trained):
    table, found = trained
    X, y = table.holdout.X, table.holdout.y
    assert found.holdout.error == pytest.approx(1 - found.pipeline.score(X, y))
    assert len(found.holdout.probabilities) == len(y) >= 60  # two fifths of the 149 contents
    certificate = certificate_of(found, table, 0.05, 3)
    assert certificate.best.n == 60
    assert certificate.best.value > found.holdout.error


def test_blocks_give_the_same_probabilities(trained, monkeypatch):
    _, found = trained
    monkeypatch.setattr("surewood.workflow.training.ROWS_PER_BLOCK", 7)
    blocks = predict_in_blocks(found.estimator, found.holdout.X)
    assert np.array_equal(blocks, found.holdout.probabilities)


def test_fewer_rows_are_noted():
    table = read_for_training("iris", holdout=0, random_state=0)
    limit_rows(table, Family("rcf", "RandomCompositeForestClassifier"), 60, 0)
    assert table.n_rows == 60
    assert table.notes[-1] == "trained on a random sample of 60 of 150 training rows."


@pytest.mark.parametrize(("model", "noted"), [
    (GaussianNB(), True),
    (BinnedForestClassifier(2, random_state=0), False),
    (MarginDeepForestClassifier(n_estimators=2, max_layers=1, cv=2, random_state=0), False),
])  # fmt: skip
def test_a_model_whose_own_folds_do_not_know_the_groups_has_a_note(tmp_path, model, noted):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.arange(80) // 4, "x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(tmp_path / "t.csv", "y", holdout=0.3, groups="who")
    train(table, prepare(table), model)
    assert any(note.startswith("groups are not kept whole") for note in table.notes) == noted


@pytest.fixture
def in_groups(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.arange(80) // 4, "x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    return read_for_training(tmp_path / "t.csv", "y", holdout=0.3, groups="who")


class Recorder(MarginDeepForestClassifier):
    """Keeps the folds that it was fitted with."""

    def fit(self, X, y, groups=None):
        super().fit(X, y, groups=groups)
        codes, numbers = (np.unique(labels, return_inverse=True)[1] for labels in (y, groups))
        self.splits_ = given_splits(self.cv, codes, groups=numbers)
        return self


@pytest.mark.parametrize("cv", [3, GroupKFold(3), StratifiedGroupKFold(3)], ids=str)
def test_splitters_are_given_the_groups(in_groups, cv):
    model = Recorder(n_estimators=2, max_layers=1, cv=cv, random_state=0)
    found = train(in_groups, prepare(in_groups), model).estimator
    assert found.cv is cv
    for fitted, held in found.splits_:
        assert not set(in_groups.rows.groups[fitted]) & set(in_groups.rows.groups[held])
    assert not any("group" in note and ("both sides" in note or "whole" in note) for note in in_groups.notes)


def test_splits_that_divide_groups_are_noted_by_name(in_groups):
    n = in_groups.n_rows
    pairs = [(np.arange(n) % 2 != k, np.arange(n) % 2 == k) for k in (0, 1)]
    pairs = [(np.flatnonzero(fitted), np.flatnonzero(held)) for fitted, held in pairs]
    first = min(in_groups.rows.groups.astype(str).tolist())
    for cv in (KFold(2, shuffle=True, random_state=0), pairs, iter(pairs)):
        in_groups.notes.clear()
        train(in_groups, prepare(in_groups), Recorder(n_estimators=2, max_layers=1, cv=cv, random_state=0))
        (note,) = [note for note in in_groups.notes if "both sides" in note]
        if cv is pairs:
            assert note.startswith(f"cv has rows of group '{first}' and of ")
            assert note.endswith("use GroupKFold, StratifiedGroupKFold or a number of folds.")


def test_a_splitter_that_cannot_divide_the_groups_is_refused(in_groups):
    model = MarginDeepForestClassifier(n_estimators=2, max_layers=1, cv=GroupKFold(50), random_state=0)
    with pytest.raises(WorkflowError, match=r"^cv=GroupKFold: Cannot have number of splits"):
        train(in_groups, prepare(in_groups), model)


def test_what_was_decided_about_columns_is_noted(tmp_path):
    n = np.arange(240)
    frame = pd.DataFrame(
        {
            "code": 10_000 + 7919 * n % 90_000,
            "town": [f"town {k % 12 if k < 200 else k}" for k in n],
            "x": n % 7,
        }
    )
    frame.assign(y=np.where(n % 2, "a", "b")).to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(tmp_path / "t.csv", "y", holdout=0.0)
    plan = prepare(table).plan_
    assert plan["town"].reason == "52 distinct texts, 40 in fewer than 10 rows"
    assert f"column 'town': {plan['town'].reason}, which count as one category." in table.notes
    assert f"column 'code' is used: {plan['code'].reason} If so, drop=code." in table.notes


def test_a_number_that_may_mean_a_missing_value_is_noted(tmp_path):
    n = np.arange(240)
    frame = pd.DataFrame({"age": 20 + n % 50, "x": n % 7, "y": np.where(n % 2, "a", "b")})
    frame.loc[::60, "age"] = -999
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(tmp_path / "t.csv", "y", holdout=0.0)
    prepare(table)
    note = "column 'age' is -999 in 4 rows, far from all other numbers; if that means a missing value, "
    assert note + "missing=-999." in table.notes
    table.notes.clear()
    prepare(table, ColumnOptions(missing=("-999",)))
    assert table.notes == []


MODEL = SimpleNamespace(classes_=np.array(["a", "b"]))


def test_sets_cover_the_labels(tmp_path):
    workflow.fit(
        "digits",
        model="mddf",
        parameters={"n_estimators": 5, "max_layers": 1},
        n_jobs=1,
        out=tmp_path / "m",
        holdout=0.2,
    )
    found = workflow.predict(tmp_path / "m", "digits", coverage=0.9)
    assert found.frame["set"].str.len().min() >= 0
    inside = [p in s.split("|") for p, s in zip(found.frame["prediction"], found.frame["set"]) if s]
    assert np.mean(inside) == 1.0


def test_what_cannot_be_kept_is_said(fitted):
    with pytest.raises(WorkflowError, match=r"coverage=0\.99: .* holdout rows are too few"):
        kept_sets(MODEL, fitted.facts, 0.99)
    with pytest.raises(WorkflowError, match="coverage=2 is not a coverage"):
        kept_sets(MODEL, fitted.facts, 2)
    with pytest.raises(WorkflowError, match=r"coverage=0\.9 needs the holdout of the fit"):
        kept_sets(MODEL, {}, 0.9)
    with pytest.raises(WorkflowError, match=r"^sets_guarantee=sure: choose among pac, marginal\.$"):
        kept_sets(MODEL, fitted.facts, 0.9, "sure")
    with pytest.raises(WorkflowError, match=r"^sets_by=group: choose among class\.$"):
        kept_sets(MODEL, fitted.facts, 0.9, by="group")


def facts_of(scores):
    codes = np.where(np.asarray(scores) < 0, -1, 0).tolist()
    about = {"unknown": ["c"], "population": "new rows", "conditions": [["rows are new", "checked"]]}
    return {"holdout_scores": {"threshold": list(scores), "code": codes, **about}}


def test_the_limit_keeps_the_coverage():
    facts = facts_of(np.random.default_rng(0).random(2000))
    (limit,) = kept_sets(MODEL, facts, 0.9).thresholds_
    (marginal,) = kept_sets(MODEL, facts, 0.9, "marginal").thresholds_
    assert 0.07 < limit < marginal < 0.11


def test_rows_of_a_class_that_the_model_does_not_know_cannot_be_covered():
    facts = facts_of([-1.0] * 20 + [0.5] * 80)
    with pytest.raises(
        WorkflowError,
        match=r"^coverage=0\.9 cannot be kept: 20 of 100 holdout rows have a class that the model",
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
    options = {"model": "mddf", "parameters": SMALL, "n_jobs": 1, "random_state": 0, "holdout": 0.4}
    result = workflow.fit(tmp_path / "t.csv", "y", copies="leave_out", **options)
    preparer, model = result.model[0], result.model[-1]
    held = frame.iloc[result.holdout_rows]
    sets = PredictionSets(model, 0.2, guarantee, by, score)
    sets.fit(preparer.transform(held[["a", "b"]]), held["y"], copies="leave_out")
    found = workflow.predict(
        workflow.SavedModel(tmp_path, result.model, result.facts),
        tmp_path / "t.csv",
        coverage=0.8,
        sets_guarantee=guarantee,
        sets_by=by,
        sets_score=score,
    )
    expected = ["|".join(one) for one in sets.label_sets(preparer.transform(frame[["a", "b"]]))]
    assert found.frame["set"].tolist() == expected
    assert found.notes[0] == sets.statement_
    assert sets.statement_.startswith("GUARANTEE: ")


TEN_TREES = {"n_estimators": 10, "max_layers": 1}


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
        parameters=TEN_TREES,
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
    again = workflow.certify_model(
        tmp_path / "m", tables / "may.csv", claims=["recall:bad", "error_by:region"]
    ).certificate
    assert again.guarantees[0].quantity == "recall of 'bad'"
    assert again.guarantees[1].quantity == "error in each of the 2 groups of the holdout (by region)"
    assert any(
        "of the holdout rows are misclassified; the most probable class is wrong for" in note
        for note in result.notes
    )
    measured = [entry.method for entry in result.certificate.entries if entry.status.name == "ESTIMATE"]
    assert all(method.endswith(", without the threshold") for method in measured)
    explained = workflow.explain(tmp_path / "m", tables / "may.csv", 3)
    assert explained is not None


def test_abstention(tables, tmp_path):
    result = fit(tables, DecisionRule(accepted_error=0.12), tmp_path / "m")
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
    (entry,) = workflow.certify_model(tmp_path / "m", rows, claims=["cost"]).certificate.guarantees
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
        ("bad:good=much", "is not TRUE:PREDICTED=COST with a number"),
        ("bad:god=5", "'god' is not a class \\(bad, good\\)"),
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
            parameters=TEN_TREES,
            n_jobs=1,
            holdout=0,
            rule=DecisionRule(recall=0.9),
        )
