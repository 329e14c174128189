"""Training: parts in steps, plain trees, tables from files, out-of-bag votes and what is read from them."""

import os

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest
from surewood.base.time_limit import TimeLimit
from surewood.composite import estimator, training, votes
from surewood.composite.data import part_of_inputs
from surewood.composite.growing import TreeRange
from surewood.composite.plan import make_plan
from surewood.composite.training import fit_parts
from surewood.composite.trees import fit_trees
from surewood.composite.votes import labels_by_blocks, vote_evidence
from surewood.tables import ParquetTable, begin_fit, is_mapped
from surewood.tables import parquet as parquet_module
from tests.composite.composite_samples import OPTIONS, prepared, sample, setting
from tests.contract.parquet_tables import mixed_frame, write_parts

SEARCH = RandomCompositeForestClassifierCV(n_estimators=3, max_depth=1, degrees=1, C=1.0, random_state=0)


def test_plain_trees_have_their_weight_in_the_vote():
    X, y = sample(150, seed=2)
    forest = Forest.exact(
        n_estimators=5, max_depth=1, C=1.0, plain_weight=0.4, random_state=0, study={"n_plain_trees": 7}
    ).fit(X, y)
    assert forest.model_.plain.n_trees == 7
    composite = np.stack([(forest.tree_predictions(X) == c).mean(axis=1) for c in forest.classes_], axis=1)
    plain = forest.model_.plain.predict_proba(forest.model_.reader.matrix(forest.schema_.read(X)))
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
    monkeypatch.setattr(votes, "ROWS_PER_BLOCK", 64)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    assert model.ledger().equals(ledger)
    assert model.held_out_error_ == error


@pytest.fixture(scope="module")
def planned():
    data = prepared(*sample(120, seed=1))
    return make_plan(Forest(12, random_state=0)._parameters(), data, 3), data


def test_steps_of_any_size_fit_the_same_trees(planned, monkeypatch):
    plan, data = planned
    whole = fit_parts(plan, data, TimeLimit(None))
    monkeypatch.setattr(training, "ROWS_AND_TREES", 2 * data.n_rows)
    steps = fit_parts(plan, data, TimeLimit(None))
    np.testing.assert_array_equal(steps.part_of_tree, whole.part_of_tree)
    np.testing.assert_array_equal(steps.labels, whole.labels)
    np.testing.assert_allclose(steps.held_out, whole.held_out)


def test_labels_exist_for_rows_outside_the_bag_only(planned):
    plan, data = planned
    found = fit_parts(plan, data, TimeLimit(None))
    np.testing.assert_array_equal(found.labels >= 0, found.outside)


def test_time_that_is_up_leaves_at_least_one_tree(planned):
    plan, data = planned
    found = fit_parts(plan, data, TimeLimit(0.0))
    assert 1 <= found.trees.n_trees < plan.n_trees
    assert found.outside.shape[1] == found.trees.n_trees == len(found.part_of_tree)


def test_blocks_of_rows_change_nothing(monkeypatch):
    data = prepared(*sample(100))
    trees = fit_trees(data, setting(), TreeRange(3, 0), OPTIONS).trees
    whole = labels_by_blocks(trees, data, OPTIONS)
    monkeypatch.setattr(votes, "ROWS_PER_BLOCK", 7)
    assert np.array_equal(labels_by_blocks(trees, data, OPTIONS), whole)
    some = np.array([5, 9, 77])
    assert np.array_equal(labels_by_blocks(trees, data, OPTIONS, some), whole[some])


def test_evidence_needs_an_unseen_row_for_every_tree():
    data = prepared(*sample(50))
    outside = np.zeros((50, 2), dtype=bool)
    outside[:10, 0] = True
    labels = np.zeros((50, 2), dtype=np.int32)
    assert vote_evidence(data, labels, outside, hard_vote=True, n_settings=1) is None
    outside[5:20, 1] = True
    evidence = vote_evidence(data, labels, outside, hard_vote=True, n_settings=12)
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


def test_totals_are_weights():
    X, y = sample(40)
    weight = np.linspace(0.5, 2.0, 40)
    data = prepared(X, y, weight)
    assert data.total() == pytest.approx(weight.sum())
    assert data.total(np.array([0, 3])) == pytest.approx(data.weight[[0, 3]].sum())
    unweighted = prepared(X, y)
    assert (unweighted.total(), unweighted.total(np.arange(7))) == (40.0, 7.0)


def test_a_table_without_columns_for_svms_has_one():
    X = np.ones((10, 2))
    X[:, 1] = np.arange(10)
    data = prepared(X[:, :1], np.arange(10) % 2)
    assert data.n_features >= 1
    assert data.n_splitting == 1


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
