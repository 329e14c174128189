import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from surewood.deepforest.contrast_classifier import _ContrastClassifier


@pytest.fixture(scope="module")
def digits():
    return train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)


def reference(classifier, X, y, weight):
    """The same softmax in double precision, with the centred units of all rows in memory."""
    units = classifier.units_
    H = units.values(units.projections(X)).astype(np.float64)
    mean = np.average(H, axis=0, weights=weight)
    H -= mean
    Y = (y[:, None] == classifier.classes_).astype(np.float64)
    frequency = np.average(Y, axis=0, weights=weight)
    inner = H.T @ (weight[:, None] * H)
    ridge = classifier.ridge * np.trace(inner) / len(inner)
    inner += ridge * np.eye(len(inner))
    coef = 8.0 * np.linalg.solve(inner, H.T @ (weight[:, None] * (Y - frequency)))
    offset = 4.0 * (2.0 * frequency - 1.0)
    v, c, t = coef, offset, 1.0
    for _ in range(classifier.n_steps):
        p = np.exp(H @ v + c)
        miss = 2.0 * weight[:, None] * (Y - p / p.sum(axis=1, keepdims=True))
        new = v + np.linalg.solve(inner, H.T @ miss - 0.1 * ridge * v)
        lifted = c + miss.sum(axis=0) / weight.sum()
        s = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        v, c = new + (t - 1.0) / s * (new - coef), lifted + (t - 1.0) / s * (lifted - offset)
        coef, offset, t = new, lifted, s
    scores = H @ coef + offset
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_rows_give_the_softmax_of_all_rows(digits, weighted):
    X, _, y, _ = digits
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y)) if weighted else np.ones(len(y))
    weight /= weight.mean()
    classifier = _ContrastClassifier(100, ridge=1e-2, random_state=0)
    classifier.fit(X, y, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(classifier.predict_proba(X), reference(classifier, X, y, weight), atol=2e-3)


def test_steps_lower_the_loss(digits):
    X, _, y, _ = digits
    rows = np.arange(len(y))
    losses = [
        -np.log(_ContrastClassifier(n_steps=n, random_state=0).fit(X, y).predict_proba(X)[rows, y]).mean()
        for n in (0, 2, 5, 10, 20)
    ]
    assert (np.diff(losses) < 0).all()


def test_it_sees_what_trees_do_not(digits):
    X, X_test, y, y_test = digits
    trees = ExtraTreesClassifier(100, random_state=0).fit(X, y).score(X_test, y_test)
    classifier = _ContrastClassifier(random_state=0).fit(X, y)
    assert classifier.units_.n_units == len(X) // 4
    assert classifier.score(X_test, y_test) > trees


def test_the_labels_do_not_choose_the_units(digits):
    X, _, y, _ = digits
    one = _ContrastClassifier(50, random_state=3).fit(X, y).units_
    other = _ContrastClassifier(50, random_state=3).fit(X, y[::-1]).units_
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name))


def test_a_row_is_judged_alike_wherever_it_stands(digits):
    X, X_test, y, _ = digits
    classifier = _ContrastClassifier(150, random_state=0).fit(X, y)
    together = classifier.predict_proba(X_test)
    np.testing.assert_array_equal(classifier.predict_proba(X_test[7:300]), together[7:300])
    np.testing.assert_array_equal(classifier.predict_proba(X_test[500:501]), together[500:501])
    np.testing.assert_allclose(together.sum(axis=1), 1.0)


def test_two_classes_few_rows_and_labels_of_text():
    X = np.random.default_rng(0).normal(size=(9, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    classifier = clone(_ContrastClassifier(random_state=0)).fit(X, y)
    assert set(classifier.predict(X)) <= {"up", "down"}
    assert np.isfinite(classifier.predict_proba(X)).all()
    constant = _ContrastClassifier(random_state=0).fit(np.ones((9, 3)), y)
    frequency = np.mean(y == "up")
    assert (constant.predict_proba(X)[0, 1] > 0.5) == (frequency > 0.5)


@pytest.mark.parametrize(("noise", "ridge"), [(0.0, 1e-9), (0.0, 1e-4), (1e-7, 1e-9), (1e-3, 1e-4)])
def test_columns_that_all_say_the_same(noise, ridge):
    """Units are dependent then, up to single precision: the ridge grows until the factor exists."""
    rng = np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, 3000)
    X = z[:, None] * rng.uniform(1.0, 2.0, 120) + noise * rng.normal(size=(3000, 120))
    y = np.digitize(z, [-0.6, 0.1, 0.3])
    classifier = _ContrastClassifier(ridge=ridge, random_state=0).fit(X, y)
    assert np.isfinite(classifier.coef_).all()
    assert classifier.score(X, y) > 0.9


def test_infinite_numbers_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="numbers that are finite and not missing"):
        _ContrastClassifier(random_state=0).fit(X, X[:, 0] > 0)


def test_another_thread_can_stop_a_fit():
    X = np.random.default_rng(0).normal(size=(20_000, 100))
    started = time.perf_counter()
    with pytest.raises(InterruptedError, match="stopped"):
        _ContrastClassifier(random_state=0).fit(X, X[:, 0] > 0, stop=np.ones(1, dtype=np.uint8))
    assert time.perf_counter() - started < 5.0
