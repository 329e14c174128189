"""The reject option: bounds per leaf, on held-out rows or on those of the fit."""

import numpy as np
import pytest

from surewood.bounds import clopper_pearson


def test_reject_option_on_held_out_rows(model, moons):
    X, y = moons
    option = model.reject_option(0.3, X[160:], y[160:], delta=0.1)
    assert option.status == "GUARANTEE"
    assert {entry.population for entry in option.guarantees} == {"new rows"}
    assert "rows are independent draws" in option.guarantees[0].conditions[1].text
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
        ({"max_error": 0.1, "X": [[0.0, 0.0]], "y": [7]}, "labels that the model was not trained on"),
        ({"max_error": 0.1, "X": [[0.0, 0.0]], "y": [0, 1]}, "X has 1 rows, but y has 2 labels"),
    ],
)
def test_bad_reject_options(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.reject_option(**arguments)


def test_reject_option_for_several_classes(iris_model, iris):
    X, _ = iris
    option = iris_model.reject_option(0.5)
    assert option.groups["points"].sum() == 150
    assert len(option.groups) == 6
    assert option.accepts(X).shape == (150,)
