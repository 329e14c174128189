"""`contributions` of every public classifier sum to its predictions."""

import numpy as np


def test_values_sum_to_the_prediction(fitted):
    model, frame = fitted
    rows = frame.iloc[:4]
    found = model.contributions(rows)
    assert found.values.shape == found.standard_error.shape == (4, frame.shape[1], len(model.classes_))
    np.testing.assert_allclose(
        found.values.sum(axis=1), model.predict_proba(rows) - found.expected, atol=1e-9
    )
    assert (found.standard_error >= 0).all()
    np.testing.assert_allclose(found.expected.sum(), 1.0, atol=1e-9)
    np.testing.assert_allclose(found.values.sum(axis=2), 0.0, atol=1e-9)


def test_the_background_may_be_given(fitted):
    model, frame = fitted
    found = model.contributions(frame.iloc[:2], frame)
    np.testing.assert_allclose(found.expected, model.predict_proba(frame).mean(axis=0), atol=1e-9)
