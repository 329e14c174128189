"""Members, weights and notes of a fit; held-out probabilities where rows have copies."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from surewood import SurewoodClassifier
from surewood.base import time_limit
from surewood.base.parameters import checked_parameters
from surewood.mixture import training
from surewood.mixture.plan import make_plan
from surewood.mixture.training import train


@pytest.fixture(scope="module")
def sample():
    return make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)


def test_records_tell_what_became_of_every_member(sample):
    model = SurewoodClassifier(5, random_state=0).fit(*sample)
    records = {one.name: one for one in model.members_}
    assert list(records) == [
        "random_forest",
        "composite_forest",
        "boosted_trees",
        "extra_trees",
        "margin_forest",
    ]
    assert sum(one.weight for one in records.values()) == pytest.approx(1.0)
    for one in records.values():
        assert one.seconds > 0
        assert 0 < one.held_out_log_loss < 2
        assert (one.note == "") == (one.weight > 0)
    assert set(model.weights_) == {name for name, one in records.items() if one.weight > 0}


def test_the_mixture_is_no_worse_than_its_best_member_on_held_out_rows(sample):
    model = SurewoodClassifier(5, random_state=0).fit(*sample)
    best = min(one.held_out_log_loss for one in model.members_)
    assert model.model_.held_out_log_loss <= best + 0.02


def test_probabilities_are_the_calibrated_weighted_mean(sample):
    X, y = sample
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    mixed = sum(model.weights_[name] * one.predict_proba(X) for name, one in model.estimators_.items())
    np.testing.assert_allclose(model.predict_proba(X), model.model_.calibrated(mixed))
    always = SurewoodClassifier(5, random_state=0, calibrate="temperature").fit(X, y).model_
    assert always.calibrator.chosen_ == "temperature"


def test_a_time_limit_too_small_for_any_member_gives_a_plain_forest_and_says_so(sample):
    model = SurewoodClassifier(5, random_state=0, time_limit=1e-6).fit(*sample)
    assert model.weights_ == {"random_forest": 1.0}
    notes = {one.name: one.note for one in model.members_ if one.name != "random_forest"}
    assert len(notes) == 4
    assert set(notes.values()) == {"not started: no time was left"}
    (forest,) = (one for one in model.members_ if one.weight > 0)
    assert forest.note.startswith("took its part of the time limit (")


def test_no_member_is_started_that_would_end_after_the_time_limit(sample, monkeypatch):
    """Each takes three seconds beyond its part of ten: the third would end after them."""
    clock, fit = SimpleNamespace(now=0.0, monotonic=lambda: clock.now), training._fit

    def late(estimator, data, counts, part):
        clock.now += part + 3
        return fit(estimator, data, counts, np.inf)._replace(seconds=part + 3)

    monkeypatch.setattr(time_limit, "time", clock)
    monkeypatch.setattr(training, "_fit", late)
    model = SurewoodClassifier(5, random_state=0, time_limit=10).fit(*sample)
    started = [one.name for one in model.members_ if one.note != "not started: no time was left"]
    assert started == ["random_forest", "composite_forest"]
    assert clock.now < 10


def test_too_few_rows_to_compare_leave_one_member():
    X, y = make_classification(20, 4, random_state=0)
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    assert list(model.weights_) == ["composite_forest"]
    assert np.isnan(model.held_out_error_)


def test_rows_that_have_copies_are_judged_by_models_that_saw_them(sample, monkeypatch):
    """Labels are noise: only copies can be predicted, by trees that have seen them."""
    rng = np.random.default_rng(0)
    times = np.where(np.arange(150) < 140, 2, 1)
    X = np.repeat(rng.normal(size=(150, 4)), times, axis=0)
    y = np.repeat(rng.integers(0, 2, 150), times)
    model = SurewoodClassifier(20, random_state=0).fit(X, y)
    assert model.held_out_error_ < 0.1
    assert model.score(X, y) > 0.9


def test_training_is_a_function_of_plan_and_sample(sample):
    X, y = sample
    model = SurewoodClassifier(5, random_state=0, members=["random_forest"])
    with model._begin_fit(X, y, None) as inputs:
        plan = make_plan(checked_parameters(model), inputs, seed=0)
        first, second = (train(plan, inputs) for _ in range(2))
        np.testing.assert_array_equal(
            first.probabilities(inputs.table, 1), second.probabilities(inputs.table, 1)
        )


def test_rows_of_a_parquet_file_without_a_label_are_absent(sample, tmp_path):
    """Some of the others are equal: what is held out is compared by the rows that are left."""
    X, y = sample
    frame = pd.DataFrame(X.round(1), columns=list("abcdef")).assign(label=np.where(y, "yes", "no"))
    frame = pd.concat([frame, frame[:50]], ignore_index=True)
    absent = np.isin(np.arange(350), [3, 120, 299, 310])
    frame.assign(label=frame["label"].mask(absent)).to_parquet(tmp_path / "some.parquet")
    frame[~absent].to_parquet(tmp_path / "all.parquet", index=False)
    some, every = (
        SurewoodClassifier(3, random_state=0).fit(tmp_path / name, "label")
        for name in ("some.parquet", "all.parquet")
    )
    rows = frame.drop(columns="label")
    np.testing.assert_array_equal(some.predict_proba(rows), every.predict_proba(rows))


def test_held_out_loss_is_that_of_rows_to_come_where_equal_rows_have_different_labels():
    """A margin forest once counted only copies with a row's own label, and got most of the weight."""

    def drawn(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (n_rows, 4)).astype(float)
        chances = np.random.default_rng(0).dirichlet(np.full(4, 0.7), 81)[(X @ [1, 3, 9, 27]).astype(int)]
        return X, (chances.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)

    X_new, y_new = drawn(20_000, 9)
    differences = []
    for seed in (1, 2, 3):
        model = SurewoodClassifier(10, members=["margin_forest"], random_state=0).fit(*drawn(400, seed))
        new_loss = log_loss(y_new, model.predict_proba(X_new))
        differences.append(model.members_[0].held_out_log_loss - new_loss)
    assert abs(np.mean(differences)) < 0.1  # about two standard errors of the held-out rows
