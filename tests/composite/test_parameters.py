"""What a user gets for parameters that cannot be used: one clear sentence."""

import pytest

from surewood import RandomCompositeForestClassifier as Forest
from surewood import RandomCompositeForestClassifierCV
from tests.composite.composite_samples import sample


def quick(**parameters):
    return Forest(**({"n_estimators": 4, "random_state": 0} | parameters))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_features": 99}, "max_features must be at most the number of features, 6, got 99."),
        ({"max_features": "cube"}, "max_features must be 'auto', 'sqrt', 'log2', an integer of at least 1"),
        ({"degrees": [1, 0]}, "degrees must be 'auto', an integer from 1 to 100 or a list of"),
        ({"degrees": []}, "a list of integers from 1 to 100, got []."),
        ({"gamma_scale": 0.0}, "gamma_scale must be 'auto' or a number above 0, got 0.0."),
        ({"C": 0.0}, "numbers above 0, one per degree, got 0.0."),
        ({"C": [1.0], "degrees": (1, 2)}, "C must be one number per degree (2 of them), got 1 numbers."),
        (
            {"selection": "best"},
            "selection must be 'auto', 'exact', 'theorem', 'random_sequences', 'common_degr",
        ),
        ({"calibrate": "platt"}, "calibrate must be True, False, 'auto', 'temperature'"),
        ({"max_depth": -1}, "max_depth must be 'auto' or an integer from 0 to 60, got -1."),
        ({"n_estimators": 0}, "n_estimators must be an integer of at least 1, got 0."),
        (
            {"plain_weight": 1.0},
            "plain_weight must be 'auto' or a weight of at least 0 and below 1, got 1.0.",
        ),
        ({"study": {"depth": 2}}, "study must be None or a dictionary with keys among 'n_sequences'"),
        ({"study": {"leaf_scores": "soft"}}, "study['leaf_scores'] must be 'one_hot', 'ovo_votes' or"),
        ({"study": {"max_samples": 2.0}}, "study['max_samples'] must be 'auto', an integer of at least 1,"),
        (
            {"study": {"max_samples": 10_000}},
            "max_samples must be at most the number of distinct rows, 120, got 10000.",
        ),
        ({"study": {"max_leaf_size": 1}}, "study['max_leaf_size'] must be 'auto', an integer of at least 2"),
        (
            {"study": {"min_weight_fraction_leaf": 0.7}},
            "study['min_weight_fraction_leaf'] must be a number from 0 to 0.5, got 0.7.",
        ),
    ],
)
def test_parameters_out_of_range(parameters, sentence):
    X, y = sample(120)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        quick(**parameters).fit(X, y)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": 2.5},
        {"degrees": [1, 2.5]},
        {"C": None},
        {"study": {"tol": [1]}},
        {"study": ["tol"]},
        {"max_depth": 2.0},
        {"remember_rows": "yes"},
    ],
)
def test_parameters_of_the_wrong_type(parameters):
    X, y = sample(120)
    with pytest.raises(TypeError, match=r"must be .*, got "):
        quick(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"cv": 1}, "cv must be an integer of at least 2, a validation fraction strictly between 0 and 1"),
        ({"cv": 1.5}, "cv must be an integer of at least 2, a validation fraction strictly between 0 and 1"),
        ({"gamma_scale": ()}, "gamma_scale must be a number above 0 or a list of numbers above 0, got ()."),
        ({"gamma_scale": (1e-3, 0.0)}, "a list of numbers above 0, got (0.001, 0.0)."),
        ({"max_depth": (1, -2)}, "a list of integers from 0 to 60, got (1, -2)."),
        ({"time_limit": -1.0}, "time_limit must be a number of seconds of at least 0 or None, got -1.0."),
        ({"selection": "auto"}, "selection must be 'exact', 'theorem', 'random_sequences', 'common_degree'"),
        ({"study": {"max_leaf_size": 10}}, "study must be None or a dictionary with keys among"),
    ],
)
def test_grids_out_of_range(parameters, sentence):
    X, y = sample(60)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        RandomCompositeForestClassifierCV(**({"n_estimators": 2} | parameters)).fit(X, y)
    assert sentence in str(caught.value)
