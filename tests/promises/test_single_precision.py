"""Training rows that went through single precision, with noise, and come back as a holdout."""

import numpy as np
import pytest

from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest


@pytest.mark.parametrize("width", [4, 60])
@pytest.mark.parametrize("absolute", [False, True])
def test_noisy_single_precision_copies_give_no_false_claim(width, absolute):
    X, y = draw(400, 0, d=width)
    rng = np.random.default_rng(1)
    noise = 1e-9 * rng.normal(size=X.shape)
    noisy = X + noise if absolute else X * (1 + noise)
    single = np.float32
    for trained, given in ((X, single(noisy)), (single(X), noisy), (noisy, single(X))):
        certificate = certify(memorising_forest(trained, y), given, y)
        assert is_true(certificate)
        assert certificate.guarantees == ()
