"""The reject option on training rows and on repeated rows."""

import numpy as np

from surewood import DeepCascadeSVMClassifier
from tests.promises.population import draw


def test_training_rows_allow_no_guarantee_and_equal_rows_count_once():
    X, y = draw(150, 0)
    model = DeepCascadeSVMClassifier(max_leaves=2, n_leaves=2, degrees=(1,), random_state=0).fit(X, y)
    own = model.reject_option(0.2, X, y)
    assert (own.status, own.coverage) == ("ESTIMATE", 0.0)
    assert own.groups["points"].sum() == 0
    new, labels = draw(30, 1)
    repeated = model.reject_option(0.2, np.repeat(new, 50, axis=0), np.repeat(labels, 50))
    assert repeated.status == "GUARANTEE"
    assert repeated.groups["points"].sum() == 30
