"""Training: plain trees, tables from files, few trees at a time."""

import os

import numpy as np
import pytest

from surewood import CompositeTreeClassifier
from surewood import RandomCompositeForestClassifier as Forest
from surewood.composite import estimator, out_of_bag, part_fitting
from surewood.tables import ParquetTable, is_mapped
from surewood.tables import parquet as parquet_module
from tests.composite.composite_samples import sample
from tests.contract.parquet_tables import mixed_frame, write_parts


def test_plain_trees_have_their_weight_in_the_vote():
    X, y = sample(150, seed=2)
    forest = Forest.paper(
        n_estimators=5, max_depth=1, C=1.0, plain_weight=0.4, random_state=0, study={"n_plain_trees": 7}
    ).fit(X, y)
    assert forest.model_.plain.n_trees == 7
    composite = np.stack([(forest.tree_predictions(X) == c).mean(axis=1) for c in forest.classes_], axis=1)
    plain = forest.model_.plain.predict_proba(forest.model_.reader.matrix(forest.schema_.read(X)))
    assert forest.predict_proba(X) == pytest.approx(0.6 * composite + 0.4 * plain)


@pytest.mark.parametrize(
    "model",
    [
        Forest.paper(n_estimators=4, max_depth=2, degrees=(1, 2), C=1.0, random_state=0, max_memory=4 << 20),
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
    make_plan = estimator.make_plan

    def watched(given, data, *rest):
        seen.append((is_mapped(data.matrix.blocks[0]), is_mapped(data.gram.X)))
        return make_plan(given, data, *rest)

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
    monkeypatch.setattr(part_fitting, "ROWS_AND_TREES", 400)
    monkeypatch.setattr(out_of_bag, "ROWS_PER_BLOCK", 64)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    assert model.ledger().equals(ledger)
    assert model.held_out_error_ == error
