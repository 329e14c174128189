"""The chain: training rows take the way in prediction that they took in training [D-41]."""

import itertools
import math

import numpy as np
import pytest

from surewood import DeepCascadeClassifier, DeepCascadeSVMClassifier
from surewood.cascade.chain import Cascade, CascadeNode
from tests.cascade.random_tables import random_table

KERNELS, MULTICLASS, PENALTIES = ("poly", "homogeneous", "rbf"), ("one_vs_rest", "native"), (1.0, 100.0, 0.1)


def constant(value, **changes):
    node = {"choice": 0, "degree": 1, "fraction": None, "threshold": -math.inf, "n_support": 0}
    return CascadeNode(**{**node, "plus": 1.0, "minus": 0.0, "predictor": None, "constant": value, **changes})


def random_cascade(seed):
    X, y = random_table(seed)
    leaves = 2 + seed % 3
    model = DeepCascadeSVMClassifier(
        max_leaves=leaves,
        n_leaves=leaves,
        degrees=(1, 2, 3),
        fractions=(0.2, 0.5, 0.8),
        gamma_scale=1e-3,
        C=PENALTIES[seed % 3],
        kernel=KERNELS[(seed // 7) % 3],
        multiclass=MULTICLASS[(seed // 3) % 2],
        calibrate=False,
        random_state=0,
        study={"max_svms": 100},
    )
    try:
        return model.fit(X, y), X, y
    except ValueError:  # some tables have too few distinct points for this many leaves
        return None


def test_counts_of_ledgers_are_counts_by_predict():
    n_cascades = 0
    for seed in range(110):
        found = random_cascade(seed)
        if found is None:
            continue
        model, X, y = found
        exits = model.exits(X, y)
        ledgers = model.ledger()
        ledgers = ledgers if isinstance(ledgers, dict) else {"all": ledgers}
        for search, (name, ledger) in zip(model.search_, ledgers.items()):
            own = exits[exits["cascade"] == name]
            correct = np.rint(np.nan_to_num(own["accuracy"]) * own["points"])
            np.testing.assert_array_equal(own["points"], ledger.correct + ledger.errors, err_msg=str(seed))
            np.testing.assert_array_equal(correct, ledger.correct, err_msg=str(seed))
            np.testing.assert_array_equal(search.plus, ledger.correct, err_msg=str(seed))
            n_cascades += len(ledger) > 1
        if len(model.cascades_) == 1:
            assert (model.predict(X) != y).sum() == ledgers["all"].errors.sum()
    assert n_cascades > 100


def test_counts_of_generic_ledgers_are_counts_by_predict():
    for seed, split in itertools.product(range(1, 6), ("stump", "logistic", "linear_svm")):
        X, y = random_table(seed)
        model = DeepCascadeClassifier(["stump", "linear_svm"], [split], gamma_scale=1e-5, calibrate=False)
        model.fit(X, y)
        leaf, right = model.decision_path(X), model.predict(X) == y
        for k, (plus, minus) in enumerate(zip(model.ledger()["correct"], model.ledger()["errors"])):
            assert (right[leaf == k].sum(), (~right)[leaf == k].sum()) == (plus, minus)


def test_a_point_at_the_threshold_goes_on():
    first = constant(0.5, fraction=0.5, threshold=0.5, n_support=3)
    cascade = Cascade((first, constant(-1.0, n_support=4)), 2)
    found = cascade.evaluate(np.zeros((2, 1)))
    assert found.scores.tolist() == [-1.0, -1.0]
    assert found.leaf.tolist() == [1, 1]
    assert found.work.tolist() == [7, 7]
    assert cascade.evaluate(np.zeros((2, 1)), scale=0.0).leaf.tolist() == [0, 0]
    assert cascade.evaluate(np.zeros((2, 1)), n_leaves=1).leaf.tolist() == [0, 0]
    assert cascade.paths_in_words() == ["|f1| > 0.5", "|f1| <= 0.5"]


def test_constants_of_several_classes():
    node = constant((-0.4, 0.2, -0.8))
    np.testing.assert_array_equal(node.scores(np.zeros((2, 1)), 3), [[-0.4, 0.2, -0.8]] * 2)
    assert Cascade((node,), 3).evaluate(np.zeros((4, 1))).scores.argmax(axis=1).tolist() == [1] * 4


def test_a_chain_is_frozen():
    with pytest.raises(AttributeError):
        constant(1.0).threshold = 3.0
