"""Forged SVMs never reach the core: each kind is refused with one sentence."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from surewood import _core
from surewood.svm.dual import MAX_DEGREE, solve_many
from surewood.svm.gram import Gram, KernelSpec
from surewood.svm.one_vs_one import TABLE, Predictor


@pytest.fixture(scope="module")
def predictor():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    groups = [np.arange(60), np.flatnonzero(y < 2), np.flatnonzero(y == 2)]
    return solve_many(Gram(X), groups, y, degrees=[1, 2], C=[1.0]).predictor()


def changed(predictor, name, place, value):
    array = getattr(predictor, name).copy()
    array[place] = value
    return {name: array}


FORGED = {
    "support row": (lambda p: changed(p, "support", 0, len(p.support_rows)), "outside support_rows"),
    "negative support row": (lambda p: changed(p, "support", 3, -1), "outside support_rows"),
    "degree": (lambda p: changed(p, "degree", 0, MAX_DEGREE + 1), "degree must be from 0 to 100"),
    "negative degree": (lambda p: changed(p, "degree", 0, -1), "degree must be from 0 to 100"),
    "scale": (lambda p: changed(p, "scale", 0, 0.0), "scale must be positive"),
    "infinite scale": (lambda p: changed(p, "scale", 0, np.inf), "scale must be positive"),
    "number of classes": (lambda p: changed(p, "n_classes", 0, 4), "one entry per class"),
    "no classes": (lambda p: changed(p, "n_classes", 0, 0), "n_classes must be from 1"),
    "huge number of classes": (lambda p: changed(p, "n_classes", 0, 2**31 - 1), "n_classes must be from 1"),
    "number of support rows": (lambda p: changed(p, "n_support", 0, p.n_support[0] + 1), "n_support entries"),
    "negative support count": (lambda p: changed(p, "n_support", 0, -1), "must not be negative"),
    "support of a class": (lambda p: changed(p, "class_support", 0, p.class_support[0] + 1), "must sum to"),
    "negative support of a class": (lambda p: changed(p, "class_support", 0, -1), "must not be negative"),
    "order of classes": (lambda p: changed(p, "classes", 0, 2), "must ascend"),
    "negative class": (lambda p: changed(p, "classes", 0, -5), "must ascend"),
    "pairs": (lambda p: {"bias": p.bias[:-1]}, "one entry per pair"),
    "coefficients": (lambda p: {"coef": p.coef[:-1]}, "coef must have"),
    "support": (lambda p: {"support": p.support[:-1]}, "n_support entries per SVM"),
    "class_support": (lambda p: {"class_support": p.class_support[:-1]}, "one entry per class"),
    "coefficient not a number": (lambda p: changed(p, "coef", 0, np.nan), "coef must be finite"),
    "infinite bias": (lambda p: changed(p, "bias", 0, np.inf), "bias must be finite"),
    "infinite row": (lambda p: changed(p, "support_rows", (0, 0), np.inf), "support_rows must be finite"),
    "norms": (lambda p: {"support_norms": p.support_norms[:-1]}, "support_norms"),
    "support_index": (lambda p: {"support_index": p.support_index[:-1]}, "support_index must have one entry"),
    "dtype": (lambda p: {"support": p.support.astype(np.int64)}, "support must be an array of int32"),
    "no array": (lambda p: {"coef": None}, "coef must be an array of float64, got NoneType"),
    "dimensions": (lambda p: {"coef": p.coef[None]}, "coef must have 1 dimension"),
    "order in memory": (lambda p: {"support_rows": np.asfortranarray(p.support_rows)}, "C-contiguous"),
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_svms_are_refused(predictor, kind):
    forge, sentence = FORGED[kind]
    with pytest.raises(ValueError, match=sentence):
        replace(predictor, **forge(predictor))
    state = predictor.__dict__ | forge(predictor)
    with pytest.raises(ValueError, match=sentence):
        Predictor.__new__(Predictor).__setstate__(state)


def test_honest_svms_pickle(predictor):
    X = np.random.default_rng(1).normal(size=(20, 3))
    copy = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(copy.predict(X), predictor.predict(X))


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="kind must be one of 'poly', 'rbf', got 'sigmoid'"):
        _core.Kernel("sigmoid", 1.0, 0.0)
    with pytest.raises(ValueError, match="gamma must be positive and finite"):
        _core.Kernel("poly", np.nan, 0.0)
    with pytest.raises(ValueError, match="coef0 must be finite"):
        _core.Kernel("poly", 1.0, np.inf)
    with pytest.raises(ValueError, match="kind must be 'poly' or 'rbf'"):
        KernelSpec.__new__(KernelSpec).__setstate__({"kind": "sigmoid", "gamma": 1.0, "coef0": 0.0})


PROBLEMS = {
    "points": np.arange(4, dtype=np.int32),
    "starts": np.array([0, 4]),
    "group": np.zeros(1, dtype=np.int32),
    "degree": np.ones(1, dtype=np.int32),
    "C": np.ones(1),
}


@pytest.mark.parametrize(
    ("forged", "sentence"),
    [
        ({"starts": np.array([0, 5])}, "end at the length of points"),
        ({"starts": np.array([1, 4])}, "begin with 0"),
        ({"starts": np.array([0, 0, 4])}, "no group is empty"),
        ({"starts": np.zeros(0, dtype=np.int64)}, "begin with 0"),
        ({"group": np.ones(1, dtype=np.int32)}, "there is no such group"),
        ({"group": -np.ones(1, dtype=np.int32)}, "there is no such group"),
        ({"degree": np.array([101], dtype=np.int32)}, "degree must be from 0 to 100, got 101"),
        ({"C": np.array([np.nan])}, "C must be positive"),
    ],
)
def test_forged_problems_are_refused(forged, sentence):
    _core.Problems(**PROBLEMS)
    with pytest.raises(ValueError, match=sentence):
        _core.Problems(**(PROBLEMS | forged))


@pytest.mark.parametrize(
    ("forged", "sentence"),
    [
        ({"points": np.array([0, 1, 2, 4], dtype=np.int32)}, "points: a row number is not a row of x"),
        ({"points": np.array([0, 1, 2, -1], dtype=np.int32)}, "points: a row number is not a row of x"),
        ({"labels": np.array([0, 1, -1, 1], dtype=np.int32)}, "a class code is negative"),
        ({"weights": np.array([1.0, 0.0, 1.0, 1.0])}, "weights must be positive and finite"),
        ({"tol": np.nan}, "tol must be positive"),
        ({"max_iter": -1}, "max_iter must be from 0"),
        ({"cache_bytes": -1}, "cache_bytes must be from 0"),
    ],
)
def test_forged_training_is_refused(forged, sentence):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    problems = _core.Problems(**(PROBLEMS | {k: v for k, v in forged.items() if k in PROBLEMS}))
    rows = _core.TrainingRows(x=X, norms=_core.squared_norms(X), gram=None)
    options = {"tol": 1e-3, "max_iter": 100, "cache_bytes": 1 << 20, "warm": False, "decisions": False}
    with pytest.raises(ValueError, match=sentence):
        _core.svm_solve(
            rows,
            _core.Kernel("poly", 1.0, 1.0),
            problems,
            forged.get("labels", np.array([0, 0, 1, 1], dtype=np.int32)),
            forged.get("weights"),
            _core.SolveOptions(**(options | {k: v for k, v in forged.items() if k in options})),
            np.zeros(1, dtype=np.uint8),
        )


def test_outputs_and_tasks_must_fit(predictor):
    svms = _core.SvmTable(**{name: getattr(predictor, name) for name in TABLE})
    X, stop = np.zeros((4, 3)), np.zeros(1, dtype=np.uint8)

    def predict(assign, **out):
        _core.svm_predict(svms, predictor.kernel.in_core, X, assign, stop=stop, **out)

    first = np.zeros((4, 1), dtype=np.int32)
    with pytest.raises(ValueError, match="assign names SVM 6 of 6"):
        predict(first + 6, codes=np.zeros((4, 1), dtype=np.int32))
    with pytest.raises(ValueError, match="no column for a class"):
        predict(first, vote_fractions=np.zeros((4, 2)))
    with pytest.raises(ValueError, match="no room for the pairs"):
        predict(first, decisions=np.zeros((4, 1, 2)))
    with pytest.raises(TypeError, match="codes: axis 0 must have length 4"):
        predict(first, codes=np.zeros((3, 1), dtype=np.int32))
    with pytest.raises(TypeError, match="decisions: axis 1 must have length 1"):
        predict(first, decisions=np.zeros((4, 2, 3)))


def test_rows_that_do_not_fit_are_refused():
    many = np.broadcast_to(np.zeros((1, 1)), (2**31, 1))
    with pytest.raises(ValueError, match="at most 2147483647 of them fit into 32 bits"):
        _core.TrainingRows(x=many, norms=np.zeros(1, dtype=np.float32), gram=None)
