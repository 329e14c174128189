"""Explanations of boosted trees."""

import numpy as np
import pytest

from surewood import BoostedTreesClassifier
from tests.boosting.toy import table


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_and_the_weightiest_trees(n_classes):
    X, y = table(300, n_classes)
    model = BoostedTreesClassifier(10, random_state=0, calibrate=False).fit(X, y)
    (told,) = model.explain(X.iloc[:1])
    labels = [0, 1, 2] if n_classes == 3 else [1]
    assert list(told["scores"]) == labels
    odds = np.exp(list(told["scores"].values()))
    expected = odds / odds.sum() if n_classes == 3 else odds / (1 + odds)
    np.testing.assert_allclose([told["probabilities"][label] for label in labels], expected)
    sizes = [abs(one["value"]) for one in told["weightiest"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 5
    assert {one["for"] for one in told["weightiest"]} <= set(labels)
