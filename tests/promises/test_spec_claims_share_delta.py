"""§11.1 and §11.2: J claims get delta / J each, the number of models multiplies J, limits are exact."""

import numpy as np
import pytest
from scipy.stats import beta

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


def upper(k, n, delta):
    """The exact upper limit, from the specification: CP+(k, n, delta)."""
    return 1.0 if k == n else float(beta.ppf(1 - delta, k + 1, n - k))


@pytest.fixture(scope="module")
def judged():
    X, y = draw(400, 0)
    model = nearest_neighbour(X, y)
    new, labels = draw(900, 1)
    return model, X, new, labels, model.predict(new)


def test_three_claims_have_a_third_of_delta_each(judged):
    model, X, new, y, found = judged
    certificate = certify(model, new, y, X_train=X, claims=["error", "recall:1", "precision:0"], delta=0.03)
    wrong = int((found != y).sum())
    expected = {
        "error": upper(wrong, len(y), 0.01),
        "recall of 1": 1 - upper(int((found[y == 1] != 1).sum()), int((y == 1).sum()), 0.01),
        "precision of 0": 1 - upper(int((y[found == 0] != 0).sum()), int((found == 0).sum()), 0.01),
    }
    for entry in certificate.guarantees:
        assert entry.delta == pytest.approx(0.01)
        assert entry.value == pytest.approx(expected.pop(entry.quantity.replace("'", "")), abs=1e-9)
    assert not expected


def test_models_compared_multiply_the_claims(judged):
    model, X, new, y, found = judged
    [error, fpr] = certify(
        model, new, y, X_train=X, claims=["error", "fpr:1"], delta=0.05, n_models=5
    ).guarantees
    assert error.value == pytest.approx(upper(int((found != y).sum()), len(y), 0.05 / 10), abs=1e-9)
    negatives = y == 0
    k, n = int((found[negatives] == 1).sum()), int(negatives.sum())
    assert fpr.value == pytest.approx(upper(k, n, 0.05 / 10), abs=1e-9)


def test_balanced_accuracy_is_the_mean_of_recall_limits(judged):
    model, X, new, y, found = judged
    certificate = certify(model, new, y, X_train=X, claims="balanced_accuracy", delta=0.05)
    limits = [1 - upper(int((found[y == c] != c).sum()), int((y == c).sum()), 0.025) for c in (0, 1)]
    assert certificate.guarantees[0].value == pytest.approx(np.mean(limits), abs=1e-9)
