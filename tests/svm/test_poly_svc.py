"""PolySVC: the SVM of SVC, tables as they are, plan, training, compression, explanations."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.svm import SVC

import surewood
from surewood import BinnedForestClassifier, PolySVC
from surewood.base.parameters import checked_parameters
from surewood.bounds.evidence import CompressionEvidence, EstimateEvidence
from surewood.certify import certify
from surewood.svm.penalty import C_GRID
from surewood.svm.plan import make_plan
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


def test_the_normalised_kernel_is_that_of_svc_on_its_matrix(four_classes, tmp_path):
    X, y, Z, _ = four_classes

    def kernel(A, B):
        norms = [np.sqrt(0.2 * (rows**2).sum(axis=1) + 1.5) for rows in (A, B)]
        return ((0.2 * A @ B.T + 1.5) / np.outer(*norms)) ** 3

    how = {"C": 5.0, "decision_function_shape": "ovo"}
    ours = PolySVC(kernel="normalized_poly", degree=3, gamma=0.2, coef0=1.5, scale=False, **how).fit(X, y)
    peer = SVC(kernel="precomputed", **how).fit(kernel(X, X), y)
    expected = peer.decision_function(kernel(Z, X))
    np.testing.assert_allclose(ours.decision_function(Z), expected, rtol=0.01, atol=0.02)
    again = surewood.load(surewood.save(ours, tmp_path / "model.surewood"))
    np.testing.assert_array_equal(again.predict_proba(Z), ours.predict_proba(Z))
    with pytest.raises(ValueError, match=r"needs a coef0 of at least 0, got -1\.0"):
        PolySVC(kernel="normalized_poly", coef0=-1.0).fit(X, y)


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


def test_memory_and_threads_do_not_change_a_bit(four_classes):
    X, y, Z, _ = four_classes
    wide = np.hstack([X] * 8)  # wide enough for the stored matrix
    expected = PolySVC().fit(wide, y).decision_function(np.hstack([Z] * 8))
    for change in ({}, {"n_jobs": 2}, {"cache_size": 0.01}):  # the matrix is not stored
        again = PolySVC(max_memory=1, **change).fit(wide, y).decision_function(np.hstack([Z] * 8))
        np.testing.assert_array_equal(again, expected)


def test_one_class_is_a_constant():
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


def plan_of(estimator):
    return make_plan(checked_parameters(estimator))


def test_what_parameters_mean():
    plan = plan_of(PolySVC(kernel="rbf", degree=7, max_iter=-1, max_memory="1MB", cache_size=1))
    assert (plan.degree, plan.max_iter, plan.max_memory, plan.cache_bytes) == (1, 10**7, 10**6, 2**20)
    assert (plan.C, plan.calibration) == (1.0, "auto")
    assert plan_of(PolySVC(C="auto")).C is None
    assert plan_of(PolySVC(C=[3])).C == 3.0
    with pytest.raises(ValueError, match=r"^C must be one number, got \[1, 2\]\.$"):
        plan_of(PolySVC(C=[1, 2]))


def test_gamma_by_the_data_or_by_the_width():
    design = np.array([[0.0, 2.0], [4.0, 2.0]])
    weight = np.array([1.0, 1.0])
    assert plan_of(PolySVC(gamma="auto")).kernel_spec(design, weight).gamma == 0.5
    assert plan_of(PolySVC(gamma="scale")).kernel_spec(design, weight).gamma == 1 / (2 * design.var())
    assert plan_of(PolySVC(gamma=3)).kernel_spec(design, None).gamma == 3.0


X, Y = blobs(240, 5, 4, 3)


def test_auto_takes_the_c_of_smallest_error():
    model = PolySVC(degree=2, C="auto").fit(X[:160], Y[:160])
    assert model.C_ in C_GRID
    fixed = PolySVC(degree=2, C=model.C_).fit(X[:160], Y[:160])
    np.testing.assert_array_equal(model.predict_proba(X), fixed.predict_proba(X))
    assert model.score(X[160:], Y[160:]) >= PolySVC(degree=2, C=1e-3).fit(X[:160], Y[:160]).score(
        X[160:], Y[160:]
    )


def test_a_chosen_c_offers_no_compression_bound():
    given, chosen = (
        PolySVC(degree=1, gamma=1.0, scale=False, C=C).fit(X, Y).__certificate_evidence__()
        for C in (1.0, "auto")
    )
    assert [type(e).__name__ for e in given] == ["CompressionEvidence", "EstimateEvidence"]
    [only] = chosen
    assert only.used_for_selection


def test_one_class_needs_no_choice():
    assert PolySVC(C="auto").fit([[0.0], [1.0]], ["a", "a"]).predict([[3.0]]).tolist() == ["a"]


@pytest.mark.parametrize("method", ["temperature", "offset", "isotonic"])
def test_named_methods_calibrate_without_changing_a_prediction(method):
    model = PolySVC(degree=2, C=0.3, calibrate=method).fit(X[:160], Y[:160])
    reference = PolySVC(degree=2, C=0.3).fit(X[:160], Y[:160])
    proba = model.predict_proba(X[160:])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[160:]))
    assert log_loss(Y[160:], proba) < 0.9 * np.log(4)


def two_blobs(n=400, gap=4.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + gap * y[:, None], y


def evidence(model):
    found = list(model.__certificate_evidence__())
    return next(e for e in found if isinstance(e, CompressionEvidence)), found


def test_counts_and_conditions():
    X, y = two_blobs(gap=2.0)
    model = PolySVC(degree=1, gamma=1.0, scale=False).fit(X, y)
    own, found = evidence(model)
    assert (own.n_samples, own.n_compressed) == (400, len(model.support_))
    rest = np.setdiff1d(np.arange(400), model.support_)
    assert own.errors == (model.predict(X[rest]) != y[rest]).sum() == 0
    assert all(c.holds for c in own.conditions())
    estimate = next(e for e in found if isinstance(e, EstimateEvidence))
    assert 0.0 <= estimate.value < 0.2
    assert estimate.n == 400


@pytest.mark.parametrize("changes", [{"scale": True}, {"gamma": "scale"}])
def test_scaling_with_the_training_rows_turns_the_guarantee_away(changes):
    own, _ = evidence(PolySVC(**{"degree": 1, "gamma": 1.0, "scale": False, **changes}).fit(*two_blobs()))
    assert not own.scaling_fixed
    assert "scaling was fixed" in [c.text for c in own.conditions() if not c.holds][-1]


def test_weights_and_equal_rows_turn_it_away():
    X, y = two_blobs()
    model = PolySVC(degree=1, gamma=1.0, scale=False)
    assert not evidence(model.fit(X, y, sample_weight=1.0 + y))[0].unweighted
    assert not evidence(model.fit(np.vstack([X, X[:5]]), np.r_[y, y[:5]]))[0].unweighted


def test_a_certificate_promises_by_compression():
    X, y = two_blobs()
    X_new, y_new = two_blobs(seed=1)
    model = PolySVC(degree=1, gamma=1.0, scale=False).fit(X, y)
    entries = certify(model, X_new, y_new).entries
    own = [e for e in entries if "compression" in e.method.lower()]
    assert own
    assert own[0].status.name == "GUARANTEE"
    assert own[0].value < 0.35
    scaled = certify(PolySVC(degree=1).fit(X, y), X_new, y_new).entries
    assert not [e for e in scaled if "compression" in e.method.lower() and e.status.name == "GUARANTEE"]


def test_a_forest_offers_its_out_of_bag_error_and_no_more():
    X, y = two_blobs(gap=1.5)
    assert list(BinnedForestClassifier(5, random_state=0).fit(X, y).__certificate_evidence__()) == []
    model = BinnedForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    (own,) = model.__certificate_evidence__()
    assert own.value == pytest.approx(1.0 - model.oob_score_)
    assert own.n == 400


X_explaining, Y_explaining = blobs(120, 4, 3, 1)


def test_votes_are_the_pairs_won():
    model = PolySVC(degree=2).fit(X_explaining, Y_explaining)
    for row, label in zip(model.explain(X_explaining[:10]), model.predict(X_explaining[:10])):
        won = [pair["first"] if pair["decision"] > 0 else pair["second"] for pair in row["pairs"]]
        assert {c: won.count(c) for c in row["votes"]} == row["votes"]
        assert row["prediction"] == label == max(row["votes"], key=row["votes"].get)
        assert row["degree"] == 2


def test_without_probabilities_or_degree():
    [row] = PolySVC(kernel="rbf", calibrate=False).fit(X_explaining, Y_explaining).explain(X_explaining[:1])
    assert row["probabilities"] is None
    assert row["degree"] is None
    assert len(row["support"]) == 5


X_report_facts, y = load_iris(return_X_y=True)


def test_figures_and_steps():
    model = PolySVC(degree=2).fit(X_report_facts, y)
    facts = model.__report_facts__(None)
    figures = {one["label"]: one["value"] for one in facts["figures"]}
    assert figures == {"pairs of classes": 3, "support vectors": len(model.support_)}
    pairs, support = model.__explanation_steps__(model.explain(X_report_facts[:1])[0])
    assert len(pairs["lines"]) == 3
    assert sum(line.endswith("for 0") for line in pairs["lines"]) == 2
    assert support["support"][0]["label"] == 0
