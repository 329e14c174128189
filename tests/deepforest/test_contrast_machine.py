import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from surewood.deepforest.contrast_machine import _ContrastMachine


@pytest.fixture(scope="module")
def digits():
    return train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)


def reference(machine, X, y, weight):
    """The same softmax in double precision, with the centred units of all rows in memory."""
    units = machine.units_
    H = units.values(units.projections(X)).astype(np.float64)
    mean = np.average(H, axis=0, weights=weight)
    H -= mean
    Y = (y[:, None] == machine.classes_).astype(np.float64)
    share = np.average(Y, axis=0, weights=weight)
    inner = H.T @ (weight[:, None] * H)
    ridge = machine.ridge * np.trace(inner) / len(inner)
    inner += ridge * np.eye(len(inner))
    coef = 8.0 * np.linalg.solve(inner, H.T @ (weight[:, None] * (Y - share)))
    offset = 4.0 * (2.0 * share - 1.0)
    v, c, t = coef, offset, 1.0
    for _ in range(machine.n_steps):
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
    machine = _ContrastMachine(100, ridge=1e-2, random_state=0)
    machine.fit(X, y, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(machine.predict_proba(X), reference(machine, X, y, weight), atol=2e-3)


def test_steps_lower_the_loss(digits):
    X, _, y, _ = digits
    rows = np.arange(len(y))
    losses = [
        -np.log(_ContrastMachine(n_steps=n, random_state=0).fit(X, y).predict_proba(X)[rows, y]).mean()
        for n in (0, 2, 5, 10, 20)
    ]
    assert (np.diff(losses) < 0).all()


def test_it_sees_what_trees_do_not(digits):
    X, X_test, y, y_test = digits
    trees = ExtraTreesClassifier(100, random_state=0).fit(X, y).score(X_test, y_test)
    machine = _ContrastMachine(random_state=0).fit(X, y)
    assert machine.units_.n_units == len(X) // 4
    assert machine.score(X_test, y_test) > trees


def test_the_labels_do_not_choose_the_units(digits):
    X, _, y, _ = digits
    one = _ContrastMachine(50, random_state=3).fit(X, y).units_
    other = _ContrastMachine(50, random_state=3).fit(X, y[::-1]).units_
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name))


def test_a_row_is_judged_alike_wherever_it_stands(digits):
    X, X_test, y, _ = digits
    machine = _ContrastMachine(150, random_state=0).fit(X, y)
    together = machine.predict_proba(X_test)
    np.testing.assert_array_equal(machine.predict_proba(X_test[7:300]), together[7:300])
    np.testing.assert_array_equal(machine.predict_proba(X_test[500:501]), together[500:501])
    np.testing.assert_allclose(together.sum(axis=1), 1.0)


def test_two_classes_few_rows_and_labels_of_text():
    X = np.random.default_rng(0).normal(size=(9, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    machine = clone(_ContrastMachine(random_state=0)).fit(X, y)
    assert set(machine.predict(X)) <= {"up", "down"}
    assert np.isfinite(machine.predict_proba(X)).all()
    constant = _ContrastMachine(random_state=0).fit(np.ones((9, 3)), y)
    share = np.mean(y == "up")
    assert (constant.predict_proba(X)[0, 1] > 0.5) == (share > 0.5)


@pytest.mark.parametrize(("noise", "ridge"), [(0.0, 1e-9), (0.0, 1e-4), (1e-7, 1e-9), (1e-3, 1e-4)])
def test_columns_that_all_say_the_same(noise, ridge):
    """Units are dependent then, up to single precision: the ridge grows until the factor exists."""
    rng = np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, 3000)
    X = z[:, None] * rng.uniform(1.0, 2.0, 120) + noise * rng.normal(size=(3000, 120))
    y = np.digitize(z, [-0.6, 0.1, 0.3])
    machine = _ContrastMachine(ridge=ridge, random_state=0).fit(X, y)
    assert np.isfinite(machine.coef_).all()
    assert machine.score(X, y) > 0.9


def test_infinite_numbers_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="numbers that are finite and not missing"):
        _ContrastMachine(random_state=0).fit(X, X[:, 0] > 0)


def test_another_thread_can_stop_a_fit():
    X = np.random.default_rng(0).normal(size=(20_000, 100))
    started = time.perf_counter()
    with pytest.raises(InterruptedError, match="stopped"):
        _ContrastMachine(random_state=0).fit(X, X[:, 0] > 0, stop=np.ones(1, dtype=np.uint8))
    assert time.perf_counter() - started < 5.0
