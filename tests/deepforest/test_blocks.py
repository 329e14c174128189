"""Blocks: cross-fitted forests and classifiers, their tasks, and blocks on disk."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood.base.folds import stratified_folds
from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.blocks import (
    BlockSetting,
    SpillFolder,
    fit_fold_classifier,
    guarded_weights,
    train_block,
)
from surewood.deepforest.data import LayerInput
from surewood.deepforest.forests import TreeSettings, parse_members
from surewood.trees.binning import bin_array

KINDS = ["random", "random", "completely_random", "completely_random"]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        200, 6, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    return LayerInput(bin_array(X)), y.astype(np.int32)


def setting(n_trees=8, cross_fit="kfold", forests=KINDS, **settings):
    members = parse_members(forests, n_trees)
    return BlockSetting(members, [8] * len(members), TreeSettings(**settings), 3, cross_fit)


def test_vectors_are_distributions_and_better_than_chance(data):
    inputs, y = data
    fit = train_block(inputs, y, stratified_folds(y, 5, 0), setting(), seed=0)
    np.testing.assert_allclose(fit.vectors.sum(axis=2), 1.0)
    assert (fit.vectors.mean(axis=0).argmax(axis=1) == y).mean() > 0.7
    assert fit.importances.sum() == pytest.approx(1.0)
    assert fit.block.n_trees == 4 * 8 * 5


@pytest.mark.parametrize("row", [0, 17, 101])
def test_a_points_own_label_never_changes_its_own_vector(data, row):
    """theory.md §9: within the same fold split, at layer 1."""
    inputs, y = data
    fold = stratified_folds(y, 5, 0)
    changed = y.copy()
    changed[row] = (y[row] + 1) % 3
    before = train_block(inputs, y, fold, setting(), seed=0).vectors
    after = train_block(inputs, changed, fold, setting(), seed=0).vectors
    np.testing.assert_array_equal(before[:, row], after[:, row])
    assert (before != after).any()  # others do learn from it


def test_a_contrast_classifier_does_not_see_the_label_either():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0)
    inputs, y, fold = LayerInput(bin_array(X), X), y.astype(np.int32), stratified_folds(y, 5, 0)
    changed = y.copy()
    changed[17] = (y[17] + 1) % 3
    block = setting(forests=["contrast"])
    before = train_block(inputs, y, fold, block, seed=0, n_jobs=1).vectors
    after = train_block(inputs, changed, fold, block, seed=0, n_jobs=2).vectors
    np.testing.assert_array_equal(before[:, fold == fold[17]], after[:, fold == fold[17]])
    assert (before != after).any()


@pytest.mark.parametrize("kind", ["random", "classifier"])
def test_in_fold_vectors_are_averages_of_the_models_that_saw_the_point(data, kind):
    """The prose's reading of [D-26], enumerated fold by fold."""
    inputs, y = data
    numbers = make_classification(
        200, 6, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )[0]
    inputs = LayerInput(inputs.matrix, numbers)
    fold = stratified_folds(y, 3, 0)
    own = setting(cross_fit="in_fold", forests=["random" if kind == "random" else GaussianNB()])
    fit = train_block(inputs, y, fold, own, seed=0)
    expected = np.zeros((200, 3))
    for k in range(3):
        if kind == "random":  # trees of a fold stand together
            trees = fit.block.models[0].trees(8 * k, 8 * (k + 1)).predict_proba(inputs.matrix)
        else:
            trees = GaussianNB().fit(numbers[fold != k], y[fold != k]).predict_proba(numbers)
        expected[fold != k] += trees[fold != k] / 2
    np.testing.assert_allclose(fit.vectors[0], expected, atol=1e-6)


def test_an_in_fold_model_claims_nothing_about_new_rows():
    X, y = load_iris(return_X_y=True)
    model = MarginDeepForestClassifier(
        3, forests=KINDS, study={"cross_fit": "in_fold"}, max_layers=2, random_state=0
    ).fit(X, y)
    assert list(model.model_.evidence()) == []
    assert model.model_.held_out is None
    assert model.model_.calibrator is None
    assert model.score(X, y) > 0.9


def test_new_points_get_the_average_over_folds(data):
    inputs, y = data
    fit = train_block(inputs, y, stratified_folds(y, 4, 0), setting(), seed=0)
    vectors = fit.block.vectors(inputs)
    for number, forest in enumerate(fit.block.models):
        parts = [forest.trees(8 * i, 8 * (i + 1)).predict_proba(inputs.matrix) for i in range(4)]
        np.testing.assert_allclose(vectors[number], np.mean(parts, axis=0))


def test_any_number_of_workers_and_any_backend_give_the_same(data, monkeypatch):
    monkeypatch.setattr("surewood.deepforest.blocks._TASK_VISITS", 3e3)  # several tasks per forest
    inputs, y = data
    fold = stratified_folds(y, 3, 0)
    one = train_block(inputs, y, fold, setting(), seed=0, n_jobs=1)
    two = train_block(inputs, y, fold, setting(), seed=0, n_jobs=2)
    with parallel_config(backend="loky", n_jobs=2):
        processes = train_block(inputs, y, fold, setting(n_trees=8, forests=KINDS), seed=0, n_jobs=2)
    for other in (two, processes):
        np.testing.assert_array_equal(one.vectors, other.vectors)
        np.testing.assert_array_equal(one.block.models[2].nodes, other.block.models[2].nodes)


def test_rows_outside_the_folds_take_no_part(data):
    inputs, y = data
    fold = stratified_folds(y, 3, 0)
    fold[:50] = -1
    changed = y.copy()
    changed[:50] = 0
    one = train_block(inputs, y, fold, setting(), seed=0).vectors
    two = train_block(inputs, changed, fold, setting(), seed=0).vectors
    np.testing.assert_array_equal(one, two)
    assert (one[:, :50] == 0).all()


def test_weights_pull_the_vectors(data):
    inputs, y = data
    heavy = np.where(y == 2, 50.0, 1.0)
    for weighting in ("reweight", "resample"):
        plain = train_block(inputs, y, stratified_folds(y, 3, 0), setting(weighting=weighting), seed=0)
        pulled = train_block(
            inputs,
            y,
            stratified_folds(y, 3, 0),
            setting(weighting=weighting),
            seed=0,
            weight=heavy / heavy.mean(),
        )
        assert pulled.vectors[:, :, 2].mean() > plain.vectors[:, :, 2].mean()


def test_a_class_without_weight_gets_a_little():
    labels, rows = np.array([0, 0, 1], dtype=np.uint16), np.arange(3)
    weight = np.array([2.0, 1.0, 0.0])
    np.testing.assert_allclose(guarded_weights(weight, rows, labels, 2), weight + 1e-3)
    np.testing.assert_array_equal(guarded_weights(weight, rows[:2], labels, 2), weight)  # class 1 not there
    assert guarded_weights(None, rows, labels, 2) is None


def test_a_class_missing_from_a_folds_training_part_gets_zero():
    X = np.arange(12, dtype=float)[:, None]
    y = np.array([0] * 6 + [1] * 5 + [2], dtype=np.int32)
    fold = (np.arange(12) % 2).astype(np.int64)
    vectors = train_block(LayerInput(bin_array(X)), y, fold, setting(), seed=0).vectors
    assert (vectors[:, fold == fold[11], 2] == 0).all()
    np.testing.assert_allclose(vectors.sum(axis=2), 1.0)


def test_absent_classes_get_zero_and_a_single_class_needs_no_classifier():
    numbers, labels = np.arange(6.0)[:, None], np.array([0, 0, 2, 2, 1, 1], dtype=np.uint16)
    model = fit_fold_classifier(GaussianNB(), numbers, labels, np.arange(4), None, 0, 3)
    vectors = model.vectors(numbers)
    assert (vectors[:, 1] == 0).all()
    np.testing.assert_allclose(vectors.sum(axis=1), 1.0)
    constant = fit_fold_classifier(GaussianNB(), numbers, labels, np.array([4, 5]), None, 0, 3)
    np.testing.assert_array_equal(constant.vectors(numbers), np.tile([0.0, 1.0, 0.0], (6, 1)))


def test_weights_are_drawn_where_fit_does_not_take_them():
    numbers, labels = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 1, 0, 1], dtype=np.uint16)
    weight = np.array([1.0, 0.0, 0.0, 1.0])
    model = fit_fold_classifier(KNeighborsClassifier(1), numbers, labels, np.arange(4), weight, 0, 2)
    np.testing.assert_array_equal(model.vectors(numbers).argmax(axis=1), [0, 0, 1, 1])


def test_clones_are_seeded_through_pipelines_and_the_original_is_untouched():
    original = make_pipeline(StandardScaler(), LogisticRegression(C=3.0))
    numbers, labels = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1], dtype=np.uint16)
    model = fit_fold_classifier(original, numbers, labels, np.arange(6), None, 7, 2).estimator
    assert model.get_params()["logisticregression__random_state"] == 7
    assert original.get_params()["logisticregression__random_state"] is None
    assert model is not original


@pytest.mark.parametrize("cls", [MarginDeepForestClassifier, CascadeForestClassifier])
def test_classifiers_and_forests_side_by_side(cls):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    frame.loc[::9, "a"] = np.nan
    y = np.where((frame["b"] == "x") ^ (frame["a"] > 0), "in", "out")
    model = cls(
        5,
        forests=["random", LogisticRegression()],
        max_layers=2,
        random_state=0,
    ).fit(frame, y)
    assert model.score(frame, y) > 0.8
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1.0)


def test_a_stored_block_is_mapped_and_predicts_the_same():
    X, y = load_iris(return_X_y=True)
    y = y.astype(np.int32)
    inputs = LayerInput(bin_array(X))
    setting = BlockSetting(parse_members(["random", "extra"], 3), [None, None], TreeSettings(), 3)
    block = train_block(inputs, y, stratified_folds(y, 2, 0), setting, seed=0).block
    folder = SpillFolder()
    stored = folder.store(block, "layer-1")
    np.testing.assert_array_equal(stored.vectors(inputs), block.vectors(inputs))
    assert isinstance(stored.models[0].nodes.base, np.memmap)
    assert len(list(folder.path.glob("layer-1-forest-1-*.npy"))) > 0
