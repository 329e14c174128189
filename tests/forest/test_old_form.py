"""Fitted states of format 1 become a `model_`."""

import numpy as np
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier
from surewood.forest.old_form import translated

X, Y = load_iris(return_X_y=True)


def test_the_attributes_of_format_1_become_one_object():
    forest = BinnedForestClassifier(5, oob_score=True, random_state=0).fit(X, Y)
    old = {
        **{k: v for k, v in vars(forest).items() if k not in ("model_", "study", "remember_rows")},
        "max_bins": 63,
        "min_samples_split": 2,
        "max_samples": None,
        "min_impurity_decrease": 0.0,
        "forest_": forest.forest_,
        "mapper_": forest.mapper_,
        "seed_": forest.seed_,
        "_mean_importances": forest.model_.importances,
        "calibrator_": None,
        "oob_score_": forest.oob_score_,
        "oob_decision_function_": forest.oob_decision_function_,
    }
    again = BinnedForestClassifier.__new__(BinnedForestClassifier)
    again.__setstate__(old)
    np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
    assert again.oob_score_ == forest.oob_score_
    assert again.study == {"max_bins": 63}
    assert "forest_" not in vars(again)


def test_a_state_of_today_stays():
    state = {"model_": 1}
    assert translated(state) is state
