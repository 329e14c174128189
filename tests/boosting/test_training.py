"""Folds, the common number of rounds, held-out probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from surewood import BoostedTreesClassifier
from surewood.boosting.growing import GrownModel
from surewood.boosting.training import common_rounds, held_out_splits, train
from tests.boosting.toy import prepared, table


def test_rounds_are_chosen_on_all_held_out_rows_together():
    def model(*losses):
        return GrownModel([[]] * (len(losses) - 1), np.zeros(1), np.array(losses))

    grown, held = [model(3.0, 2.0, 1.0, 2.0), model(3.0, 1.0, 4.0)], [np.arange(2), np.arange(1)]
    assert common_rounds(grown, held, None) == 1  # 9, 5, 6, 8
    assert common_rounds(grown, held, np.array([9.0, 1.0])) == 1  # the second model now has weight 9, too
    assert common_rounds(grown[:1], held[:1], None) == 2
    assert common_rounds(grown[:1], [], None) == 3


def test_every_row_is_held_out_once_but_the_only_one_of_its_class():
    plan, _, _ = prepared()
    y = np.array([0] * 30 + [1] * 20 + [2], dtype=np.int32)
    splits = held_out_splits(plan, y, seed=0)
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(50))
    for rows, held in splits:
        assert set(y[rows]) == {0, 1, 2}
        assert not set(rows) & set(held)
    assert len(held_out_splits(replace(plan, n_models=2), y, seed=0)) == 2


def test_held_out_probabilities_are_those_of_models_without_the_row():
    plan, inputs, _ = prepared(n_estimators=40, calibrate=False)
    trained = train(plan, inputs, 0)
    truth = trained.held_out[np.arange(600), inputs.y]
    fitted = trained.model.probabilities(inputs.table, 1)
    assert not np.isnan(trained.held_out).any()
    assert np.log(truth).mean() < np.log(fitted[np.arange(600), inputs.y]).mean()
    assert trained.model.held_out_error == pytest.approx((trained.held_out.argmax(1) != inputs.y).mean())
    assert len(set(trained.model.n_rounds.tolist())) <= 5


def test_with_two_rows_there_is_a_model_and_nothing_held_out():
    model = BoostedTreesClassifier(random_state=0)
    held_out = model._fit_held_out(np.array([[0.0], [1.0]]), [0, 1])
    assert np.isnan(held_out).all()
    assert np.isnan(model.held_out_error_)


def test_threads_do_not_matter():
    X, y = table(300)
    one, two = (BoostedTreesClassifier(20, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
