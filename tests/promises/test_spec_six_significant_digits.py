"""[D-33]: two contents are equal when they agree after rounding to six significant digits, text stripped."""

import numpy as np
import pandas as pd

from surewood.certify import certify
from tests.promises.population import draw, is_true, memorising_forest


def test_training_rows_with_a_seventh_digit_are_copies():
    X, y = draw(300, 0)
    model = memorising_forest(X, y)
    rng = np.random.default_rng(1)
    for noise in (1e-9, 1e-8):
        near = X * (1 + noise * rng.uniform(-1, 1, X.shape))
        certificate = certify(model, near, y)
        assert is_true(certificate)
        assert not [entry for entry in certificate.guarantees if entry.sample == "holdout"]


def test_a_fifth_digit_makes_a_new_row():
    X, y = draw(300, 0)
    model = memorising_forest(X, y)
    new, labels = draw(300, 1)
    new[:3], labels[:3] = X[:3] * (1 + 1e-4), y[:3]
    certificate = certify(model, new, labels)
    assert [entry.n for entry in certificate.guarantees if entry.sample == "holdout"] == [300]


def test_blanks_around_text_make_no_new_row():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.normal(size=200), "city": rng.choice(["Rome", "Oslo"], 200)})
    y = (rng.random(200) < 0.5).astype(int)
    model = memorising_forest(X.assign(city=X["city"].astype("category")), y)
    padded = X.assign(city=(" " + X["city"] + "  ").astype("category"))
    assert not [entry for entry in certify(model, padded, y).guarantees if entry.sample == "holdout"]
