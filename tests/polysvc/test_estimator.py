"""PolySVC: the machine of SVC, tables as they are, weights as repeated rows, probabilities that agree."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from surewood import PolySVC
from tests.svm.reference import blobs


@pytest.fixture(scope="module")
def four_classes():
    X, y = blobs(240, 5, 4, 3)
    return X[:160], y[:160], X[160:], y[160:]


@pytest.mark.parametrize("kernel", ["poly", "rbf", "linear"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_without_scaling_it_is_the_machine_of_svc(four_classes, kernel, n_classes):
    X, y, Z, _ = four_classes
    keep = y < n_classes
    arguments = {"kernel": kernel, "degree": 2, "C": 0.7, "coef0": 1.0, "decision_function_shape": "ovo"}
    ours = PolySVC(scale=False, calibrate=False, **arguments).fit(X[keep], y[keep])
    peer = SVC(**arguments).fit(X[keep], y[keep])
    assert (ours.predict(Z) == peer.predict(Z)).mean() >= 0.98
    np.testing.assert_allclose(ours.decision_function(Z), peer.decision_function(Z), rtol=0.01, atol=0.02)
    assert abs(len(ours.support_) - len(peer.support_)) <= 3
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=0.02)
    assert ours.dual_coef_.shape[0] == peer.dual_coef_.shape[0]
    assert ours.n_support_.sum() == len(ours.support_)
    assert ours.fit_status_ == 0
    assert len(ours.n_iter_) == n_classes * (n_classes - 1) // 2


def test_fitted_attributes_give_the_decision_function(four_classes):
    X, y, Z, _ = four_classes
    model = PolySVC(scale=False, gamma=0.2, degree=3, calibrate=False).fit(X, y < 2)
    K = (0.2 * Z @ model.support_vectors_.T + 1.0) ** 3
    np.testing.assert_allclose(
        (K @ model.dual_coef_.T + model.intercept_)[:, 0], model.decision_function(Z), atol=1e-3
    )
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert (np.diff(model.support_[: model.n_support_[0]]) > 0).all()


def test_probabilities_agree_with_predictions_and_help(four_classes):
    X, y, Z, t = four_classes
    model = PolySVC(degree=2, C=0.3).fit(X, y)
    proba = model.predict_proba(Z)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(Z))
    assert log_loss(t, proba) < 0.9 * np.log(4)
    assert not hasattr(PolySVC(calibrate=False), "predict_proba")
    late = PolySVC(calibrate=False).fit(X, y).set_params(calibrate=True)
    with pytest.raises(AttributeError, match="fitted with calibrate=False"):
        late.predict_proba(Z)


def test_weight_two_is_the_row_twice_bit_for_bit_and_order_does_not_matter(four_classes):
    X, y, Z, _ = four_classes
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    for kernel in ("poly", "rbf", "linear"):
        weighted = PolySVC(kernel=kernel).fit(X, y, sample_weight=weight)
        repeated = PolySVC(kernel=kernel).fit(X[rows], y[rows])
        np.testing.assert_array_equal(weighted.decision_function(Z), repeated.decision_function(Z))
        np.testing.assert_array_equal(weighted.predict_proba(Z), repeated.predict_proba(Z))


def test_memory_and_threads_do_not_change_a_bit(four_classes, monkeypatch):
    X, y, Z, _ = four_classes
    wide = np.hstack([X] * 8)  # wide enough for the stored matrix
    expected = PolySVC().fit(wide, y).decision_function(np.hstack([Z] * 8))
    monkeypatch.setattr("surewood.polysvc.cost.gram_limit", lambda _: 0)  # the matrix is not stored
    for change in ({}, {"n_jobs": 2}, {"cache_size": 0.01}):
        again = PolySVC(**change).fit(wide, y).decision_function(np.hstack([Z] * 8))
        np.testing.assert_array_equal(again, expected)


def test_tables_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], size=200)
    size = rng.normal(size=200)
    y = np.where((color == "red") ^ (size > 0), "yes", "no")
    size[::17] = np.nan
    frame = pd.DataFrame({"color": color, "size": size})
    frame.loc[3, "color"] = None
    model = PolySVC(degree=2, C=10.0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    later = pd.DataFrame({"color": ["violet", "red"], "size": [0.3, np.nan]})
    assert set(model.predict(later)) <= {"yes", "no"}


def test_class_weight_moves_the_decision(four_classes):
    X, y, Z, _ = four_classes
    plain = PolySVC(kernel="linear").fit(X, y == 0)
    balanced = PolySVC(kernel="linear", class_weight="balanced").fit(X, y == 0)
    assert balanced.predict(Z).sum() > plain.predict(Z).sum()


def test_one_class_is_a_constant():
    model = PolySVC().fit([[0.0], [1.0], [2.0]], ["only"] * 3)
    assert model.predict([[5.0]]).tolist() == ["only"]
    np.testing.assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    weighted = PolySVC().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 0.0])
    assert weighted.predict([[1.0]]).tolist() == [0]
    assert weighted.decision_function([[1.0]])[0] < 0
    assert weighted.predict_proba([[1.0]]).argmax() == 0


def test_the_iteration_cap_warns_and_flags(four_classes):
    X, y, *_ = four_classes
    with pytest.warns(ConvergenceWarning, match="met max_iter=3 before the tolerance"):
        model = PolySVC(max_iter=3, calibrate=False).fit(X, y)
    assert model.fit_status_ == 1
    assert (model.n_iter_ <= 3).all()


def test_rbf_does_not_mind_a_far_origin(four_classes):
    X, y, Z, _ = four_classes
    near = PolySVC(kernel="rbf", scale=False, gamma=0.1).fit(X, y)
    far = PolySVC(kernel="rbf", scale=False, gamma=0.1).fit(X + 1e6, y)
    np.testing.assert_allclose(far.decision_function(Z + 1e6), near.decision_function(Z), atol=0.02)


@pytest.mark.needs_data
@pytest.mark.parametrize("name", ["german_numeric", "vehicle", "pendigits"])
def test_real_tables_give_the_predictions_of_svc(name):
    table = pd.read_parquet(Path(os.environ["SUREWOOD_DATA"]) / f"{name}.parquet")
    X, y = table.drop(columns=["target", "split"]).to_numpy(float)[:2500], table["target"].to_numpy()[:2500]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for degree in (1, 3):
        ours = PolySVC(scale=False, gamma="auto", degree=degree, calibrate=False).fit(X, y)
        peer = SVC(kernel="poly", gamma="auto", coef0=1.0, degree=degree).fit(X, y)
        peer.decision_function_shape = "ovo"
        differs = ours.predict(X) != peer.predict(X)
        nearest = np.abs(peer.decision_function(X).reshape(len(X), -1)[differs]).min(axis=1)
        assert (nearest < 2e-3).all()


def test_verbose_names_the_stage(four_classes, capsys):
    X, y, _, _ = four_classes
    PolySVC(verbose=1).fit(X, y)
    assert "training the SVM" in capsys.readouterr().err
