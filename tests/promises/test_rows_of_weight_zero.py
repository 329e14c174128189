"""Rows that the fit was given with weight 0, as holdout."""

import numpy as np

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.population import draw


def test_a_row_the_fit_was_given_is_not_new():
    X, y = draw(300, 0)
    weight = (np.arange(300) < 200).astype(float)
    model = BinnedForestClassifier(9, random_state=0).fit(X, y, sample_weight=weight)
    assert certify(model, X[200:], y[200:]).guarantees == ()
