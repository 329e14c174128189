"""Training on a divided table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold

from surewood import BinnedForestClassifier, MarginDeepForestClassifier
from surewood.workflow.column_options import ColumnOptions
from surewood.workflow.errors import WorkflowError
from surewood.workflow.families import Family
from surewood.workflow.labelled_table import TrainingTable, read_for_training
from surewood.workflow.sampling import Sampling
from surewood.workflow.training import certificate_of, limit_rows, predict_in_blocks, prepare, train


@pytest.fixture(scope="module")
def trained():
    table = read_for_training(TrainingTable("iris", None, 0.4, 0))
    return table, train(table, prepare(table), BinnedForestClassifier(10, random_state=0))


def test_what_is_measured_is_measured_on_the_holdout(trained):
    table, found = trained
    X, y = table.holdout
    assert found.holdout.error == pytest.approx(1 - found.pipeline.score(X, y))
    assert len(found.holdout.probabilities) == len(y) >= 59  # two fifths of the 147 contents
    certificate = certificate_of(found, table, 0.05, 3)
    assert certificate.best.n == 59
    assert certificate.best.value > found.holdout.error


def test_blocks_give_the_same_probabilities(trained, monkeypatch):
    _, found = trained
    monkeypatch.setattr("surewood.workflow.training.ROWS_PER_BLOCK", 7)
    blocks = predict_in_blocks(found.estimator, found.holdout.X)
    assert np.array_equal(blocks, found.holdout.probabilities)


def test_fewer_rows_are_noted():
    table = read_for_training(TrainingTable("iris", None, 0, 0))
    limit_rows(table, Family("rcf", "RandomCompositeForestClassifier"), 60, 0)
    assert table.n_rows == 60
    assert table.notes[-1] == "trained on a random sample of 60 of 150 training rows."


@pytest.mark.parametrize(("model", "noted"), [
    (BinnedForestClassifier(2, random_state=0), True),
    (MarginDeepForestClassifier(n_estimators=2, max_layers=1, cv=2, random_state=0), False),
])  # fmt: skip
def test_a_model_whose_own_folds_do_not_know_the_groups_has_a_note(tmp_path, model, noted):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.arange(80) // 4, "x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(
        TrainingTable(tmp_path / "t.csv", "y", 0.3, 0, sampling=Sampling(groups=["who"]))
    )
    train(table, prepare(table), model)
    assert any(note.startswith("groups are not kept whole") for note in table.notes) == noted


@pytest.fixture
def in_groups(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": np.arange(80) // 4, "x": rng.normal(size=80), "y": rng.integers(0, 2, 80)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    return read_for_training(
        TrainingTable(tmp_path / "t.csv", "y", 0.3, 0, sampling=Sampling(groups=["who"]))
    )


class Recorder(MarginDeepForestClassifier):
    """Keeps the splits that it was fitted with."""

    def fit(self, X, y, **options):
        self.splits_ = self.cv
        return super().fit(X, y, **options)


@pytest.mark.parametrize("cv", [3, GroupKFold(3), StratifiedGroupKFold(3)], ids=str)
def test_splitters_are_given_the_groups(in_groups, cv):
    model = Recorder(n_estimators=2, max_layers=1, cv=cv, random_state=0)
    found = train(in_groups, prepare(in_groups), model).estimator
    assert found.cv is cv
    for fitted, held in found.splits_:
        assert not set(in_groups.groups[fitted]) & set(in_groups.groups[held])
    assert not any("group" in note and ("both sides" in note or "whole" in note) for note in in_groups.notes)


def test_splits_that_divide_groups_are_noted_by_name(in_groups):
    n = in_groups.n_rows
    pairs = [(np.arange(n) % 2 != k, np.arange(n) % 2 == k) for k in (0, 1)]
    pairs = [(np.flatnonzero(fitted), np.flatnonzero(held)) for fitted, held in pairs]
    first = min(in_groups.groups.astype(str).tolist())
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
    table = read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.0, 0))
    plan = prepare(table).plan_
    assert plan["town"].reason == "52 distinct texts, 40 in fewer than 10 rows"
    assert f"column 'town': {plan['town'].reason}, which count as one category." in table.notes
    assert f"column 'code' is used: {plan['code'].reason} If so, drop=code." in table.notes


def test_a_number_that_may_mean_a_missing_value_is_noted(tmp_path):
    n = np.arange(240)
    frame = pd.DataFrame({"age": 20 + n % 50, "x": n % 7, "y": np.where(n % 2, "a", "b")})
    frame.loc[::60, "age"] = -999
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.0, 0))
    prepare(table)
    note = "column 'age' is -999 in 4 rows, far from all other numbers; if that means a missing value, "
    assert note + "missing=-999." in table.notes
    table.notes.clear()
    prepare(table, ColumnOptions(missing=("-999",)))
    assert table.notes == []
