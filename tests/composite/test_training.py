"""Training: parts in steps, plain trees and their weight, tables from files, votes and their evidence."""

import os

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood import (
    CompositeTreeClassifier,
    RandomCompositeForestClassifier,
    RandomCompositeForestClassifierCV,
)
from surewood import RandomCompositeForestClassifier as Forest
from surewood.base.time_limit import TimeLimit
from surewood.composite import estimator, training
from surewood.composite.data import part_of_inputs
from surewood.composite.plan import PLAIN_WEIGHTS, make_plan
from surewood.composite.training import choose_plain_weight, fit_parts, out_of_bag_evidence
from surewood.tables import ParquetTable, begin_fit, is_mapped
from surewood.tables import parquet as parquet_module
from tests.composite.composite_samples import prepared, sample
from tests.contract.parquet_tables import mixed_frame, write_parts

SEARCH = RandomCompositeForestClassifierCV(n_estimators=3, max_depth=1, degrees=1, C=1.0, random_state=0)


def test_plain_trees_have_their_weight_in_the_vote():
    X, y = sample(150, seed=2)
    forest = Forest.exact(
        n_estimators=5, max_depth=1, C=1.0, plain_weight=0.4, random_state=0, study={"n_plain_trees": 7}
    ).fit(X, y)
    assert forest.model_.trees.plain.n_trees == 7
    composite = np.stack([(forest.tree_predictions(X) == c).mean(axis=1) for c in forest.classes_], axis=1)
    plain = forest.model_.trees.plain.predict_proba(forest.model_.reader.matrix(forest.schema_.read(X)))
    assert forest.predict_proba(X) == pytest.approx(0.6 * composite + 0.4 * plain)


@pytest.mark.parametrize(
    "model",
    [
        Forest.exact(n_estimators=4, max_depth=2, degrees=(1, 2), C=1.0, random_state=0, max_memory=4 << 20),
        Forest(4, selection="exact", degrees=1, random_state=0, study={"max_samples": 0.7}),
        CompositeTreeClassifier(max_depth=2, degrees=1, C=1.0, random_state=0),
    ],
)
def test_the_same_model_as_from_a_frame(tmp_path, monkeypatch, model):
    monkeypatch.setattr(parquet_module, "_MOST_BATCH_ROWS", 90)
    frame = mixed_frame(300).drop(columns="many")
    folder = write_parts(frame, tmp_path / "t")
    (tmp_path / "work").mkdir()
    X = frame.drop(columns="label")
    expected = model.fit(X, frame["label"]).predict_proba(X)
    ledger = model.ledger()
    seen = []

    def watched(parameters, data, seed):
        seen.append((is_mapped(data.matrix.blocks[0]), is_mapped(data.gram.X)))
        return make_plan(parameters, data, seed)

    monkeypatch.setattr(estimator, "make_plan", watched)
    model.fit(ParquetTable(folder, "label", workdir=tmp_path / "work"))
    np.testing.assert_array_equal(model.predict_proba(folder), expected)
    assert model.ledger().equals(ledger)
    assert model.tree_predictions(folder).tolist() == model.tree_predictions(X).tolist()
    assert seen == [(True, True)]
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"study": {"max_samples": 0.7, "bootstrap": True}, "class_weight": "balanced"},
        {"selection": "random_sequences", "study": None, "degrees": (1, 2)},
    ],
)
def test_few_trees_at_a_time_give_the_same_model(monkeypatch, changes):
    frame = mixed_frame(200).drop(columns="many")
    X, y = frame.drop(columns="label"), frame["label"]
    settings = {"selection": "exact", "degrees": 1, "C": 1.0, "study": {"max_samples": 0.7}, **changes}
    model = Forest(5, random_state=0, max_depth=2, **settings)
    expected, ledger = model.fit(X, y).predict_proba(X), model.ledger()
    error = model.held_out_error_
    monkeypatch.setattr(training, "ROWS_AND_TREES", 400)
    monkeypatch.setattr(training, "ROWS_PER_BLOCK", 64)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    assert model.ledger().equals(ledger)
    assert model.held_out_error_ == error


@pytest.fixture(scope="module")
def planned():
    data = prepared(*sample(120, seed=1))
    return make_plan(Forest(12, random_state=0)._parameters(), data, 3), data


def test_labels_exist_for_rows_outside_the_bag_only(planned):
    plan, data = planned
    found = fit_parts(plan, data, TimeLimit(None))
    np.testing.assert_array_equal(found.labels >= 0, found.outside)


def test_time_that_is_up_leaves_at_least_one_tree(planned):
    plan, data = planned
    found = fit_parts(plan, data, TimeLimit(0.0))
    assert 1 <= found.trees.n_trees < plan.n_trees
    assert found.outside.shape[1] == found.trees.n_trees == len(found.part_of_tree)


def test_evidence_needs_an_unseen_row_for_every_tree():
    data = prepared(*sample(50))
    outside = np.zeros((50, 2), dtype=bool)
    outside[:10, 0] = True
    labels = np.zeros((50, 2), dtype=np.int32)
    assert out_of_bag_evidence(data, labels, outside, hard_vote=True, n_settings=1) is None
    outside[5:20, 1] = True
    evidence = out_of_bag_evidence(data, labels, outside, hard_vote=True, n_settings=12)
    assert evidence.n_models == 12
    assert evidence.out_of_bag.sizes.tolist() == [10, 15]
    assert evidence.tandem.sizes[0, 1] == 5
    assert not evidence.in_bag_only


def test_a_part_is_what_a_fit_on_it_alone_sees():
    X, y = sample(60)
    X[50:] = X[:10]
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 60)
    rows = np.arange(5, 60)
    given = begin_fit(DummyClassifier(), X, y, weight, merge=False)
    alone = begin_fit(DummyClassifier(), X[rows], y[rows], weight[rows])
    part = part_of_inputs(given, rows)
    assert np.array_equal(part.table.columns(0, 6), alone.table.columns(0, 6))
    assert np.array_equal(part.y, alone.y)
    assert np.array_equal(part.weight, alone.weight)


@pytest.mark.parametrize(
    "model", [Forest(8, random_state=0), Forest(5, selection="exact", C=1.0, random_state=0), SEARCH]
)
def test_held_out_probabilities_are_by_row_of_the_merged_table_and_not_kept(model):
    X, y = sample(90, seed=3)
    copies = np.r_[np.arange(90), np.arange(30)]
    weight = np.where(np.arange(120) == 5, 0.0, 1.0)
    data = model._begin_fit(X[copies], y[copies], weight)
    held_out = model._fit_table(model._parameters(), data)
    assert held_out.shape == (90, 3)
    judged = ~np.isnan(held_out[:, 0])
    wrong = held_out[judged].argmax(axis=1) != data.y[judged]
    assert np.average(wrong, weights=data.weight[judged]) == pytest.approx(model.held_out_error_)
    assert model.model_.held_out is None


def test_without_a_limit_all_are_grown_and_without_time_ten():
    X, y = sample(120, seed=1)
    forest = RandomCompositeForestClassifier(8, plain_weight=0.5, random_state=0)
    assert forest.fit(X, y).model_.trees.plain.n_trees == 40
    assert forest.set_params(time_limit=0.0).fit(X, y).model_.trees.plain.n_trees == 10


def votes(y, accuracy, seed, n_votes=20):
    """Fractions of independent votes that are right with a probability of their own per row."""
    rng = np.random.default_rng(seed)
    hits = rng.binomial(n_votes, np.clip(rng.normal(accuracy, 0.2, len(y)), 0.02, 0.98)) / n_votes
    return np.where(np.eye(2)[y] > 0, hits[:, None], 1 - hits[:, None])


def test_a_clear_winner_takes_the_vote():
    y = np.arange(4000, dtype=np.int32) % 2
    good, poor = votes(y, 0.8, 0), votes(y, 0.5, 1)
    assert choose_plain_weight(good, poor, y) <= 0.1
    assert choose_plain_weight(poor, good, y) == 0.9


def test_equal_kinds_share_the_vote():
    y = np.arange(4000, dtype=np.int32) % 2
    assert choose_plain_weight(votes(y, 0.7, 0), votes(y, 0.7, 1), y) in (0.4, 0.5, 0.6)


def test_rows_count_by_their_weight():
    y = np.arange(600, dtype=np.int32) % 2
    right, wrong = np.eye(2)[y], 1 - np.eye(2)[y]
    first = (np.arange(600) < 300)[:, None]
    composite, plain = np.where(first, right, wrong), np.where(first, wrong, right)
    heavy = np.where(np.arange(600) < 300, 9.0, 1.0)
    assert choose_plain_weight(composite, plain, y, heavy) < 0.5
    assert choose_plain_weight(composite, plain, y, heavy[::-1]) > 0.5


def test_rows_without_votes_do_not_count():
    y = np.zeros(50, dtype=np.int32)
    none = np.full((50, 2), np.nan)
    assert choose_plain_weight(none, none, y) == 0.5
    assert 0.5 in PLAIN_WEIGHTS
