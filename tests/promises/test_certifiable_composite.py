"""[D-43]: what could make the guarantee of a composite forest false, beyond what all forests share."""

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier
from surewood.certify import certify
from tests.promises.population import draw, is_true


def forest(**options):
    return RandomCompositeForestClassifier(8, certifiable=True, random_state=0, **options)


@pytest.mark.parametrize("selection", ["auto", "exact", "common_degree"])
@pytest.mark.parametrize("seed", range(2))
def test_deep_trees_with_a_large_C_on_coins(seed, selection):
    """They know their bags by heart, and what is compared is compared on noise."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = forest(selection=selection, max_depth=8, C=100.0).fit(X, y)
    assert is_true(certify(model), least=0.5)


def test_settings_that_are_searched_within_the_fit():
    """The pilot and the tuning of C see the preparation part alone."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 12)), rng.integers(0, 2, 500)
    for selection in ("auto", "exact"):
        certificate = certify(forest(selection=selection, degrees=[1, 2, 3]).fit(X, y))
        assert is_true(certificate, least=0.5)
        assert all(entry.n_models == 1 for entry in certificate.guarantees)


def test_a_column_that_few_rows_have():
    """What is missing in a bag says nothing to its tree."""
    X, y = draw(400, 0)
    X[:, 3] = np.where(np.random.default_rng(1).random(400) < 0.9, np.nan, y)
    assert is_true(certify(forest().fit(X, y)), least=0.2)


def test_plain_trees_and_calibration_cannot_be_smuggled_in():
    X, y = draw(300, 0)
    model = forest().fit(X, y)
    assert model.plain_weight_ == 0.0
    assert model.model_.calibrator is None
    for options in ({"plain_weight": 0.9}, {"calibrate": "isotonic"}, {"time_limit": 1.0}):
        with pytest.raises(ValueError, match=r"^certifiable=True"):
            forest(**options).fit(X, y)
