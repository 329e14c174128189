"""Training rows that were rounded, or stored with fewer digits, are no copies and guarantee nothing."""

import numpy as np
import pytest

from surewood.certify import PredictionSets, certify, find_threshold
from tests.promises.population import draw, is_true, memorising_forest, nearest_neighbour


def written(text):
    return lambda X: np.vectorize(lambda value: float(text % value))(X)


ALTERED = {
    "two decimals": lambda X: X.round(2),
    "three decimals": lambda X: X.round(3),
    "three digits": written("%.3g"),
    "four digits": written("%.4g"),
    "six digits": written("%.6g"),
    "half precision": lambda X: X.astype(np.float16).astype(float),
    "another unit": lambda X: X * (1 + 1e-3),
}


@pytest.mark.parametrize("name", ALTERED)
@pytest.mark.parametrize("d", [4, 12])
def test_no_row_of_an_altered_training_table_counts(name, d):
    X, y = draw(400, 0, d)
    certificate = certify(memorising_forest(X, y), ALTERED[name](X), y)
    assert [entry for entry in certificate.guarantees if entry.sample == "holdout"] == []
    assert is_true(certificate)


def test_the_certificate_says_why():
    X, y = draw(400, 0)
    certificate = certify(memorising_forest(X, y), X.round(3), y)
    assert "look like rounded or altered training rows, so no row is counted" in certificate.facts[0]
    assert "copies of training rows, or look like altered ones" in str(certificate)


def test_a_holdout_that_is_half_altered_training_rows():
    X, y = draw(400, 0)
    new, labels = draw(400, 1)
    mixed = np.vstack([X[:200].round(3), new[:200]])
    certificate = certify(memorising_forest(X, y), mixed, np.r_[y[:200], labels[:200]])
    assert [entry for entry in certificate.guarantees if entry.sample == "holdout"] == []


def test_models_of_other_libraries_by_their_training_table():
    X, y = draw(400, 0)
    certificate = certify(nearest_neighbour(X, y), X.round(3), y, X_train=X)
    assert [entry for entry in certificate.guarantees if entry.sample == "holdout"] == []


def test_thresholds_and_sets():
    X, y = draw(400, 0)
    model = memorising_forest(X, y)
    with pytest.raises(ValueError, match="look like altered ones"):
        find_threshold(model, X.round(3), y, recall=0.8)
    with pytest.raises(ValueError, match="look like altered ones"):
        PredictionSets(model).fit(X.round(3), y)


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_new_rows_are_counted_whatever_their_digits(digits):
    """Where rounding makes independent rows alike, training rows are alike each other as well."""
    for seed in range(20):
        X, y = draw(300, 2 * seed)
        new, labels = draw(300, 2 * seed + 1)
        model = memorising_forest(X.round(digits), y)
        certificate = certify(model, new.round(digits), labels)
        assert [entry for entry in certificate.guarantees if entry.sample == "holdout"]
        assert is_true(certificate)
