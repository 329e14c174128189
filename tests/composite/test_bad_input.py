"""What a user gets for input that cannot be used as it is: one clear sentence, or defined behaviour."""

import numpy as np
import pytest

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest
from tests.composite.composite_samples import sample


def quick(**parameters):
    return Forest(**({"n_estimators": 4, "random_state": 0} | parameters))


def test_one_class_is_predicted():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for model in (quick(), CompositeTreeClassifier(), RandomCompositeForestClassifierCV(n_estimators=3)):
        model.fit(X, ["only"] * 30)
        assert model.predict(X[:2]).tolist() == ["only", "only"]
        assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_classes_with_one_example_are_kept():
    X, y = sample(120)
    y = y.copy()
    y[0], y[1] = 7, 8
    for model in (quick(), quick(selection="exact", max_depth=2, C=1.0)):
        model.fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2, 7, 8]
        assert model.predict_proba(X).shape == (120, 5)


def test_a_class_missing_from_a_training_part_is_never_predicted_there():
    X, y = sample(120)
    y = y.copy()
    y[:2] = 9
    rows, held = np.arange(2, 100), np.r_[0, 1, np.arange(100, 120)]
    search = RandomCompositeForestClassifierCV(n_estimators=(2, 4), max_depth=(1, 2), cv=[(rows, held)])
    search.fit(X, y)
    assert search.classes_.tolist() == [0, 1, 2, 9]
    assert np.nanmax(search.cv_results_["mean_test_score"]) <= 1 - 2 / len(held)


def test_more_features_than_rows():
    X, y = sample(60, n_features=200)
    assert quick().fit(X, y).predict(X).shape == (60,)


def test_constant_columns():
    X, y = sample(100)
    constant = np.ones((100, 2))
    with_them = quick(max_features=None).fit(np.column_stack([X, constant]), y)
    assert with_them.score(np.column_stack([X, constant]), y) > 0.5
    nothing_else = quick().fit(constant, y)
    assert len(set(nothing_else.predict(constant))) == 1


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_features": 99}, "max_features=99 is not between 1 and the 6 features of X."),
        ({"max_features": "cube"}, "max_features must be 'sqrt', 'log2', None, an integer or a fraction"),
        ({"degrees": [1, 0]}, "degrees must be positive integers up to 50, got 0"),
        ({"degrees": [1, 2.5]}, "degrees must be positive integers up to 50, got 2.5"),
        ({"degrees": []}, "degrees must name at least one degree."),
        ({"gamma_scale": 0.0}, "gamma_scale must be positive and finite, got 0.0."),
        ({"gamma_scale": -1.0}, "gamma_scale must be positive and finite, got -1.0."),
        ({"C": 0.0}, "C must be positive and finite, got 0.0."),
        ({"C": [1.0], "degrees": (1, 2)}, "C must have one value a degree (2), got 1."),
        ({"selection": "best"}, "selection must be one of 'auto', 'exact', 'random_sequences'"),
        (
            {"leaf_scores": "soft"},
            "leaf_scores must be one of 'one_hot', 'ovo_votes', 'calibrated', got 'soft'.",
        ),
        ({"calibrate": "platt"}, "calibrate must be False or one of 'auto', 'temperature', 'isotonic'"),
        ({"max_depth": -1}, "max_depth must be between 0 and 60, got -1."),
        ({"n_estimators": 0}, "n_estimators must be at least 1, got 0."),
        ({"max_samples": 2.0}, "max_samples must be 'auto', None, a number of rows or a fraction in (0, 1]"),
        ({"max_samples": 10_000}, "max_samples=10000 exceeds the 120 rows of X."),
        (
            {"plain_share": 1.0},
            "plain_share must be below 1: with plain trees only, use BinnedForestClassifier.",
        ),
        ({"max_leaf_size": 1}, "max_leaf_size must be at least 2, got 1."),
        ({"min_weight_fraction_leaf": 0.7}, "min_weight_fraction_leaf must be at most 0.5"),
    ],
)
def test_parameters_out_of_range(parameters, sentence):
    X, y = sample(120)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        quick(**parameters).fit(X, y)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "parameters", [{"n_estimators": 2.5}, {"degrees": "two"}, {"C": "large"}, {"tol": "small"}]
)
def test_parameters_of_the_wrong_type(parameters):
    X, y = sample(120)
    with pytest.raises(TypeError, match="must be"):
        quick(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"cv": 1}, "cv must be at least 2, got 1."),
        ({"cv": 1.5}, "cv as a validation part must be between 0 and 1, got 1.5."),
        ({"gamma_scale": ()}, "gamma_scale must have at least one value."),
        ({"gamma_scale": (1e-3, 0.0)}, "gamma_scale must be positive and finite, got 0.0."),
        ({"max_depth": (1, -2)}, "max_depth must be between 0 and 60, got -2."),
        ({"max_seconds": 0.0}, "max_seconds must be positive and finite, got 0.0."),
        ({"selection": "auto"}, "selection must be one of 'exact', 'random_sequences'"),
        ({"max_leaf_size": 10}, "max_leaf_size must be None: nested depths are exact only without"),
    ],
)
def test_grids_out_of_range(parameters, sentence):
    X, y = sample(60)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        RandomCompositeForestClassifierCV(**({"n_estimators": 2} | parameters)).fit(X, y)
    assert sentence in str(caught.value)


def test_huge_and_tiny_values_do_not_disturb():
    X, y = sample(80)
    X = X * np.array([1e150, 1e-150, 1.0, 1e300, 1.0, 1.0])
    assert quick().fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_two_rows_are_enough():
    model = quick().fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
