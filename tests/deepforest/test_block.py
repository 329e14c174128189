import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification

from surewood.deepforest.block import BlockPlan, guarded_weights, train_block
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.members import TreeSettings, parse_members
from surewood.estimators.folds import stratified_folds
from surewood.trees import bin_array

KINDS = ["random", "random", "completely_random", "completely_random"]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        200, 6, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    return LayerInput(bin_array(X)), y.astype(np.int32)


def plan(n_trees=8, cross_fit="kfold", forests=KINDS, **settings):
    members = parse_members(forests, n_trees)
    return BlockPlan(members, [8] * len(members), TreeSettings(**settings), 3, cross_fit)


def test_vectors_are_distributions_and_better_than_chance(data):
    inputs, y = data
    for cross_fit in ("kfold", "oob"):
        fit = train_block(inputs, y, stratified_folds(y, 5, 0), plan(cross_fit=cross_fit), seed=0)
        np.testing.assert_allclose(fit.vectors.sum(axis=2), 1.0)
        assert (fit.vectors.mean(axis=0).argmax(axis=1) == y).mean() > 0.7
        assert fit.importances.sum() == pytest.approx(1.0)
        folds = 5 if cross_fit == "kfold" else 1
        assert fit.block.n_trees == 4 * 8 * folds


@pytest.mark.parametrize("row", [0, 17, 101])
def test_a_points_own_label_never_changes_its_own_vector(data, row):
    """theory.md §9: within the same fold split, at layer 1."""
    inputs, y = data
    fold = stratified_folds(y, 5, 0)
    changed = y.copy()
    changed[row] = (y[row] + 1) % 3
    before = train_block(inputs, y, fold, plan(), seed=0).vectors
    after = train_block(inputs, changed, fold, plan(), seed=0).vectors
    np.testing.assert_array_equal(before[:, row], after[:, row])
    assert (before != after).any()  # others do learn from it


def test_a_contrast_classifier_does_not_see_the_label_either():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0)
    inputs, y, fold = LayerInput(bin_array(X), X), y.astype(np.int32), stratified_folds(y, 5, 0)
    changed = y.copy()
    changed[17] = (y[17] + 1) % 3
    block = plan(forests=["contrast"])
    before = train_block(inputs, y, fold, block, seed=0, n_jobs=1).vectors
    after = train_block(inputs, changed, fold, block, seed=0, n_jobs=2).vectors
    np.testing.assert_array_equal(before[:, fold == fold[17]], after[:, fold == fold[17]])
    assert (before != after).any()


def test_out_of_bag_vectors_do_not_see_the_label_either(data):
    """Trees that have a point in their bag change with its label, the others do not."""
    inputs, y = data
    fold = np.zeros(len(y), dtype=np.int64)
    changed = y.copy()
    changed[3] = (y[3] + 1) % 3
    before = train_block(inputs, y, fold, plan(cross_fit="oob"), seed=0).vectors
    after = train_block(inputs, changed, fold, plan(cross_fit="oob"), seed=0).vectors
    np.testing.assert_array_equal(before[:, 3], after[:, 3])


def test_new_points_get_the_average_over_folds(data):
    inputs, y = data
    fit = train_block(inputs, y, stratified_folds(y, 4, 0), plan(), seed=0)
    vectors = fit.block.vectors(inputs)
    for number, forest in enumerate(fit.block.models):
        parts = [forest.trees(8 * i, 8 * (i + 1)).predict_proba(inputs.matrix) for i in range(4)]
        np.testing.assert_allclose(vectors[number], np.mean(parts, axis=0))


def test_any_number_of_workers_and_any_backend_give_the_same(data, monkeypatch):
    monkeypatch.setattr("surewood.deepforest.block._TASK_VISITS", 3e3)  # several tasks per forest
    inputs, y = data
    fold = stratified_folds(y, 3, 0)
    one = train_block(inputs, y, fold, plan(), seed=0, n_jobs=1)
    two = train_block(inputs, y, fold, plan(), seed=0, n_jobs=2)
    with parallel_config(backend="loky", n_jobs=2):
        processes = train_block(inputs, y, fold, plan(n_trees=8, forests=KINDS), seed=0, n_jobs=2)
    for other in (two, processes):
        np.testing.assert_array_equal(one.vectors, other.vectors)
        np.testing.assert_array_equal(one.block.models[2].nodes, other.block.models[2].nodes)


def test_rows_outside_the_folds_take_no_part(data):
    inputs, y = data
    fold = stratified_folds(y, 3, 0)
    fold[:50] = -1
    changed = y.copy()
    changed[:50] = 0
    one = train_block(inputs, y, fold, plan(), seed=0).vectors
    two = train_block(inputs, changed, fold, plan(), seed=0).vectors
    np.testing.assert_array_equal(one, two)
    assert (one[:, :50] == 0).all()


def test_weights_pull_the_vectors(data):
    inputs, y = data
    heavy = np.where(y == 2, 50.0, 1.0)
    for weighting in ("reweight", "resample"):
        plain = train_block(inputs, y, stratified_folds(y, 3, 0), plan(weighting=weighting), seed=0)
        pulled = train_block(
            inputs,
            y,
            stratified_folds(y, 3, 0),
            plan(weighting=weighting),
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
    vectors = train_block(LayerInput(bin_array(X)), y, fold, plan(), seed=0).vectors
    assert (vectors[:, fold == fold[11], 2] == 0).all()
    np.testing.assert_allclose(vectors.sum(axis=2), 1.0)


def test_one_tree_leaves_out_of_bag_points_with_the_class_frequencies(data):
    inputs, y = data
    fit = train_block(inputs, y, np.zeros(len(y), np.int64), plan(1, "oob", ["random"]), seed=0)
    frequencies = np.bincount(y) / len(y)
    unseen = np.isclose(fit.vectors[0], frequencies).all(axis=1).mean()
    assert 0.5 < unseen < 0.75  # about 1 - 1/e of the points are in the bag
