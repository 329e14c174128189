"""The fitted mixture as arrays."""

import numpy as np
from sklearn.datasets import load_wine

from surewood import SurewoodClassifier
from surewood.tables import begin_predict


def test_one_table_serves_all_members():
    X, y = load_wine(return_X_y=True)
    model = SurewoodClassifier(5, random_state=0).fit(X, y)
    table = begin_predict(model, X)
    np.testing.assert_array_equal(model.model_.probabilities(table, 1), model.predict_proba(X))
    np.testing.assert_allclose(model.model_.mixed(table, 1).sum(axis=1), 1.0)


def test_evidence_is_an_estimate_that_took_part_in_choices():
    X, y = load_wine(return_X_y=True)
    (found,) = SurewoodClassifier(5, random_state=0).fit(X, y).__certificate_evidence__()
    assert found.used_for_selection
    assert len(y) - 3 <= found.n <= len(y)  # a row that every tree saw has no held-out vote
