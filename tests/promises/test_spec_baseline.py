"""[D-42]: every certificate knows the baseline and calls itself trivial when it does not beat it."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.dummy import DummyClassifier

from surewood.certify import certify, rows_needed
from tests.promises.tables import fit, frame, write


def test_a_constant_model_is_called_trivial():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), (rng.random(400) < 0.05).astype(int)
    model = DummyClassifier().fit(X[:200], y[:200])
    certificate = certify(model, X[200:], y[200:], X_train=X[:200])
    assert certificate.is_trivial
    assert certificate.majority_error == pytest.approx(y[200:].mean())
    assert "baseline" in str(certificate)


def test_a_short_holdout_says_how_many_rows_would_do(tmp_path):
    result = fit(write(frame(60, 0), tmp_path / "short.csv"))
    assert result.certificate.is_trivial
    said = result.certificate.verdict
    assert "baseline" in said
    assert "would do" in said or "not below it" in said


def test_the_number_that_would_do_does():
    """§11.8: the smallest n with CP+(floor(error n), n, delta) <= at_most."""
    n = rows_needed(0.1, 0.2, delta=0.05)
    assert binom.cdf(int(0.1 * n), n, 0.2) <= 0.05
    assert binom.cdf(int(0.1 * (n - 1)), n - 1, 0.2) > 0.05
