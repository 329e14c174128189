"""The margin forest through its public class, and what all cascades share."""

import _thread
import pickle
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.model_selection import StratifiedKFold

import surewood
from surewood.base.rules import check_value
from surewood.deepforest import (
    CascadeForestClassifier,
    MarginDeepForestClassifier,
    MarginDeepForestClassifierCV,
    blocks,
)
from surewood.deepforest.forests import AUTO_BLOCKS, PUBLISHED


def small(**parameters):
    return MarginDeepForestClassifier(**{"n_estimators": 5, "max_layers": 3, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_learns_and_reports_its_layers(wine):
    X, y = wine
    model = small(n_estimators=20, max_layers=4, study={"keep_held_out": True}).fit(X, y)
    assert model.score(X, y) > 0.97
    frame = pd.DataFrame(model.layers_)
    assert list(frame["layer"]) == list(range(1, len(frame) + 1))
    whole = frame[frame["n_trees"] == 4 * 20 * 5]
    assert frame.loc[frame["kept"], "score"].max() == whole["score"].max()
    assert set(frame.loc[frame["kept"], "layer"]) <= set(whole["layer"])
    assert frame["n_trees"].iloc[-1] in (4 * 10 * 5, 4 * 20 * 5)  # the last layer may end at its first trees
    assert model.n_layers_ == frame["kept"].sum() == len(model.alphas_)
    assert len(model.staged_held_out_scores_) == len(frame)
    np.testing.assert_array_equal(model.staged_held_out_scores_[model.n_layers_ - 1], model.held_out_scores_)
    assert (model.held_out_scores_.argmax(axis=1) == y).mean() == pytest.approx(whole["score"].max())


def test_counts_are_rows_and_rows_of_weight_zero_are_absent(wine):
    X, y = wine
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = small().fit(X, y, sample_weight=counts)
    repeated = small().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert np.isnan(weighted.held_out_scores_[counts == 0]).all()


def test_predictions_are_the_most_probable_class_at_every_stage(wine):
    X, y = wine
    for calibrate in (True, False, "temperature", "isotonic"):
        model = small(calibrate=calibrate).fit(X, y)
        proba = model.predict_proba(X)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        stages = list(model.staged_predict_proba(X))
        assert len(stages) == len(list(model.staged_predict(X))) == model.n_layers_
        np.testing.assert_array_equal(stages[-1], proba)


def test_spilled_layers_predict_the_same_and_the_folder_goes_away(wine, tmp_path):
    X, y = wine
    expected = small().fit(X, y).predict_proba(X)
    model = small(study={"keep_in_memory": False}).fit(X, y)
    folder = model.model_.spill.path
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    again = pickle.loads(pickle.dumps(model))
    loaded = surewood.load(surewood.save(model, tmp_path / "spilled.surewood"))
    del model
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    np.testing.assert_array_equal(loaded.predict_proba(X), expected)
    assert not Path(folder).exists()


def test_the_best_first_layer_decides_block_and_depth(wine):
    X, y = wine
    auto = small().fit(X, y)
    assert auto.depth_schedule_ in ((8,) * 4, (16,) * 4)
    assert tuple(kind for kind, _ in auto.forests_) in AUTO_BLOCKS
    published = small(forests=AUTO_BLOCKS[0], max_layers=1).fit(X, y)  # the first forests of the pool
    assert auto.layers_[0].score >= published.layers_[0].score


def test_importances_point_at_the_informative_columns():
    X, y = make_classification(
        300, 8, n_informative=3, n_redundant=0, class_sep=2.0, shuffle=False, random_state=0
    )
    for layer_inputs in ("both", "scores", "features"):
        model = small(study={"layer_inputs": layer_inputs}, forests=["random"] * 2, n_estimators=20).fit(X, y)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert model.feature_importances_[:3].sum() > 0.6


def test_class_weights_and_weights_on_one_class():
    X, y = make_classification(300, 6, weights=[0.9], flip_y=0.1, random_state=0)
    plain, balanced = small().fit(X, y), small(class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
    only = small().fit(X, y, sample_weight=(y == 1).astype(float))
    assert (only.predict(X) == 1).all()
    assert only.classes_.tolist() == [0, 1]


def test_fewer_points_than_folds_warns_and_works():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:20, 50:70, 100:103]
    with pytest.warns(UserWarning, match="class 2 has 3 rows, fewer than cv=5: using 3 folds"):
        model = small().fit(X[rows], y[rows])
    assert model.predict_proba(X).shape == (150, 3)
    with pytest.warns(UserWarning, match="class 2 has 1 row,"):
        small().fit(X[rows[:-2]], y[rows[:-2]])  # the class is missing from one fold's training part


def test_the_published_forest_has_a_name(wine):
    model = MarginDeepForestClassifier.paper(n_estimators=3, max_layers=2, random_state=0)
    published = {"reweighting": "literal", "step": "literal"}
    assert (model.forests, model.depth_schedule, model.study) == (PUBLISHED, 8, published)
    model.fit(*wine)
    assert {record.n_trees for record in model.layers_} == {4 * 3 * 5}
    assert model.depth_schedule_ == (8,) * 4
    stacked = MarginDeepForestClassifier.paper(study={"layer_inputs": "scores"})
    assert stacked.study == published | {"layer_inputs": "scores"}


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(wine):
    X, y = wine
    model = small().fit(X, y)
    before = model.predict_proba(X)
    X_long, y_long = make_classification(20000, 30, n_informative=20, random_state=0)
    model.set_params(n_estimators=500, forests=["random"] * 4)
    timer = threading.Timer(0.7, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X_long, y_long)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert not hasattr(clone(model), "classes_")


def test_scorers_may_stop_the_growth(wine):
    X, y = wine
    for monitor in ("neg_log_loss", "margin_ratio", "balanced_accuracy"):
        assert small(study={"monitor": monitor}).fit(X, y).score(X, y) > 0.9


def old_default(**changes):
    """The rules of forests that are given, for the blocks that are chosen."""
    study = {"pilot_trees": None, "patience": 3, "min_improvement": 1e-4}
    return MarginDeepForestClassifier(6, max_layers=3, random_state=0, study=study, **changes)


def test_switches_bring_back_all_trees_and_the_published_stop_rule(wine):
    model = old_default().fit(*wine)
    assert {record.n_trees for record in model.layers_} == {4 * 6 * 5}
    assert model.stop_reason_ in ("perfect", "max_layers")


def test_a_time_limit_of_nothing_still_gives_a_model(wine):
    X, y = wine
    model = MarginDeepForestClassifier(100, time_limit=0.0, random_state=0).fit(X, y)
    assert model.stop_reason_ == "time_limit"
    assert [record.n_trees for record in model.layers_] == [4 * 10 * 5]
    assert {n_trees for _, n_trees in model.forests_} == {10}
    assert model.score(X, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_time_limit_that_is_never_reached_changes_nothing(wine):
    X, y = wine
    free, limited = (small(time_limit=limit).fit(X, y) for limit in (None, 1e6))
    np.testing.assert_array_equal(free.predict_proba(X), limited.predict_proba(X))
    assert free.stop_reason_ == limited.stop_reason_ != "time_limit"


@pytest.mark.parametrize("cls", [MarginDeepForestClassifierCV, CascadeForestClassifier])
def test_all_cascades_take_a_time_limit(cls, wine):
    model = cls(4, time_limit=0.0, random_state=0).fit(*wine)
    assert (model.stop_reason_, len(model.layers_)) == ("time_limit", 1)


@pytest.mark.parametrize("seconds", [60, 200])
def test_a_time_limit_leaves_out_trees_of_a_layer(monkeypatch, wine, seconds):
    """The clock stands still but while trees are grown: one second for each. A layer has a thousand."""
    now, grow = [0.0], blocks.grow_and_predict

    def grow_and_predict(grower, *arguments):
        now[0] += grower.keywords["n_trees"]
        return grow(grower, *arguments)

    monkeypatch.setattr(blocks, "grow_and_predict", grow_and_predict)
    monkeypatch.setattr("surewood.base.time_limit.time", SimpleNamespace(monotonic=lambda: now[0]))
    model = CascadeForestClassifier(50, time_limit=seconds, n_jobs=1, random_state=0).fit(*wine)
    assert 0.5 * seconds < now[0] <= 1.2 * seconds + 1
    assert model.stop_reason_ == "time_limit"
    assert model.score(*wine) > 0.95


@pytest.mark.parametrize("cls", [MarginDeepForestClassifier, CascadeForestClassifier])
def test_folds_of_the_user_hold_rows_out_together(cls, wine):
    X, y = wine
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    settings = {"n_estimators": 5, "forests": ["random"], "max_layers": 2, "random_state": 0}
    model = cls(cv=splits, **settings).fit(X, y)
    assert model.layers_[0].n_trees == 3 * 5
    changed = y.copy()
    changed[splits[0][1]] = (y[splits[0][1]] + 1) % 3  # labels of one fold: its own first vectors stay
    study = {"keep_held_out": True}
    before, after = (cls(cv=splits, study=study, **settings).fit(X, labels) for labels in (y, changed))
    first_before, first_after = before.staged_held_out_scores_[0], after.staged_held_out_scores_[0]
    np.testing.assert_array_equal(first_before[splits[0][1]], first_after[splits[0][1]])
    assert (first_before != first_after).any()


def test_folds_that_do_not_cover_the_rows_are_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="cv must hold out every row exactly once"):
        MarginDeepForestClassifier(2, cv=[(np.arange(100), np.arange(100, 178))]).fit(X, y)


def test_a_fit_on_few_rows_of_positive_weight_is_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="n_samples=1 of positive weight; cross-fitting needs at least 2"):
        CascadeForestClassifier(2).fit(X, y, sample_weight=(np.arange(178) == 0).astype(float))


CLASSIFIERS = [MarginDeepForestClassifier, MarginDeepForestClassifierCV, CascadeForestClassifier]


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_every_switch_is_documented_and_its_default_keeps_its_rule(cls):
    for name, switch in cls._study_switches.items():
        check_value(name, switch.default, switch.rule)
        documented = cls.__doc__ + (
            MarginDeepForestClassifier.__doc__ if cls is not MarginDeepForestClassifier else ""
        )
        assert name in documented
