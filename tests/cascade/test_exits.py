import numpy as np
import pytest
from sklearn.datasets import load_iris


def test_exits_count_every_row_once(model, moons):
    X, y = moons
    table = model.exits(X, y)
    assert table["points"].sum() == len(y)
    assert (table["points"] * table["accuracy"]).sum() == pytest.approx(model.score(X, y) * len(y))
    np.testing.assert_array_equal(table["points"], np.bincount(model.decision_path(X), minlength=3))
    assert (np.diff(table["kernel_values"]) > 0).all()
    assert "accuracy" not in model.exits(X)


def test_exits_of_one_cascade_per_class(iris_model):
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
