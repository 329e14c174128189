import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from surewood import DeepCascadeSVMClassifier
from surewood.bounds import cascade_ledger, clopper_pearson
from surewood.certify import certify


@pytest.fixture(scope="module")
def moons():
    return make_moons(240, noise=0.3, random_state=2)


@pytest.fixture(scope="module")
def model(moons):
    X, y = moons
    settings = {"max_leaves": 3, "n_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2)}
    return DeepCascadeSVMClassifier(**settings, gamma_scale=1e-3, random_state=0).fit(X[:160], y[:160])


@pytest.fixture(scope="module")
def iris_model():
    X, y = load_iris(return_X_y=True)
    return DeepCascadeSVMClassifier(max_leaves=2, n_leaves=2, degrees=(1,), random_state=0).fit(X, y)


def test_exits_count_every_row_once(model, moons):
    X, y = moons
    table = model.exits(X, y)
    assert table["points"].sum() == len(y)
    assert (table["points"] * table["accuracy"]).sum() == pytest.approx(model.score(X, y) * len(y))
    np.testing.assert_array_equal(table["points"], np.bincount(model.decision_path(X), minlength=3))
    assert (np.diff(table["kernel_values"]) > 0).all()
    assert "accuracy" not in model.exits(X)


def test_exits_of_one_cascade_a_class(iris_model):
    X, y = load_iris(return_X_y=True)
    table = iris_model.exits(X, y)
    assert table.groupby("cascade")["points"].sum().tolist() == [150, 150, 150]
    assert set(iris_model.ledger()) == {0, 1, 2}


def test_margins_are_positive_where_the_prediction_is_right(model, iris_model, moons):
    for fitted, (X, y) in ((model, moons), (iris_model, load_iris(return_X_y=True))):
        margins = fitted.margins(X, y)
        np.testing.assert_array_equal(margins > 0, fitted.predict(X) == y)


def test_latency_curve(model, moons):
    X, y = moons
    curve = model.latency_curve(X[160:], y[160:])
    own = curve[curve["scale"] == 1.0].iloc[0]
    assert own["accuracy"] == pytest.approx(model.score(X[160:], y[160:]))
    assert curve["kernel_values"].is_monotonic_increasing
    assert curve["left_at_first"].iloc[0] == 1.0
    assert curve["kernel_values"].iloc[0] == model.cascades_[0].nodes[0].n_support
    assert curve["left_at_first"].iloc[-1] == 0.0
    with pytest.raises(ValueError, match="scales must be numbers of at least 0"):
        model.latency_curve(X, y, [-1.0])


def test_reject_option_on_rows_apart(model, moons):
    X, y = moons
    option = model.reject_option(0.3, X[160:], y[160:], delta=0.1)
    assert option.status == "GUARANTEE"
    groups = option.groups
    assert groups["points"].sum() == 80
    leaf, right = model.decision_path(X[160:]), model.predict(X[160:]) == y[160:]
    for row in groups.itertuples():
        here = leaf == row.leaf
        assert row.points == here.sum()
        assert row.errors == (~right[here]).sum()
        assert row.upper_bound == pytest.approx(
            clopper_pearson(row.errors, row.points, delta=0.1 / len(groups))
        )
        assert row.accepted == (row.upper_bound <= 0.3)
    accepted = option.accepts(X[160:])
    assert accepted.mean() == pytest.approx(option.coverage)
    labels = option.predict(X[160:], rejected="unsure")
    assert ((labels == "unsure") == ~accepted).all()
    np.testing.assert_array_equal(labels[accepted].astype(int), model.predict(X[160:])[accepted])


def test_reject_option_curve_and_extremes(model):
    everything, nothing = model.reject_option(1.0), model.reject_option(0.0)
    assert everything.status == "ESTIMATE"
    assert everything.coverage == 1.0
    assert nothing.coverage == 0.0
    curve = model.reject_option(0.2, bands=3).curve()
    assert curve["coverage"].is_monotonic_increasing
    assert curve["max_error"].is_monotonic_increasing
    assert curve["coverage"].iloc[-1] == pytest.approx(1.0)
    assert len(curve) > len(everything.curve())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_error": 1.5}, r"max_error must be a number from 0 to 1, got 1.5\."),
        ({"max_error": 0.1, "delta": 0.0}, "delta must be a number strictly between 0 and 1, got 0.0"),
        ({"max_error": 0.1, "bands": 0}, "bands must be an integer of at least 1"),
        ({"max_error": 0.1, "X": [[0.0, 0.0]]}, "needs both X and y"),
        ({"max_error": 0.1, "X": [[0.0, 0.0]], "y": [7]}, "labels that did not occur in training, such as"),
        ({"max_error": 0.1, "X": [[0.0, 0.0]], "y": [0, 1]}, "X has 1 rows, but y has 2 labels"),
    ],
)
def test_bad_reject_options(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.reject_option(**arguments)


def test_reject_option_for_several_classes(iris_model):
    X, _ = load_iris(return_X_y=True)
    option = iris_model.reject_option(0.5)
    assert option.groups["points"].sum() == 150
    assert len(option.groups) == 6
    assert option.accepts(X).shape == (150,)


def test_ledger_is_that_of_the_bounds(model):
    found = model.search_[0]
    ledger = model.ledger()
    expected = cascade_ledger(
        found.plus, found.minus, model.cascades_[0].degrees, n_features=2, gamma_scale=1e-3
    )
    np.testing.assert_allclose(ledger.complexity_term, expected.complexity_term)
    np.testing.assert_array_equal(ledger.correct, expected.correct)
    score = found.minus.sum() / 160 + ledger.term.sum()
    assert score == pytest.approx(found.score / 160)
    assert ledger.path[0].startswith("|f1| > ")
    assert ledger.path[-1].count("<=") == 2


def test_certificates(model, moons):
    X, y = moons
    own = model.__certificate_evidence__()
    cascade, estimate = own
    assert cascade.n_samples == 160
    assert cascade.conditions()
    assert all(condition.holds for condition in cascade.conditions())
    assert 0 <= estimate.value < 0.5
    assert "GUARANTEE" in str(certify(model, X[160:], y[160:]))
    weighted = DeepCascadeSVMClassifier(max_leaves=1, random_state=0).fit(X, y, np.full(len(y), 0.5))
    evidence = weighted.__certificate_evidence__()[0]
    assert not all(condition.holds for condition in evidence.conditions())
