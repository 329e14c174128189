"""Explanations of a mixture: what each member says."""

import numpy as np
from sklearn.datasets import load_iris

from surewood import SurewoodClassifier


def test_members_are_listed_heaviest_first_and_mix_to_the_prediction():
    X, y = load_iris(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0, calibrate=False).fit(X, y)
    (told,) = model.explain(X[60:61])
    weights = [one["weight"] for one in told["members"]]
    assert weights == sorted(weights, reverse=True)
    for label in model.classes_.tolist():
        mixed = sum(one["weight"] * one["probabilities"][label] for one in told["members"])
        np.testing.assert_allclose(mixed, told["probabilities"][label])
    steps = model.__explanation_steps__(told)
    assert steps[0]["title"] == "Members"
    assert told["members"][0]["member"].capitalize() in steps[1]["title"]
