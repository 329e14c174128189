"""Variants of mdDF: what each one changes, and how the grid is tuned."""

import numpy as np
import pytest

from surewood.experiments.mddf.methods import OPTIONS, VARIANTS, Tuned, gc_forest, margin_forest, tune
from tests.experiments.mddf.mddf_profiles import tiny

TUNED = Tuned(0.8, 0.05, 8, 1, 0.0)


@pytest.mark.parametrize("method", [*VARIANTS, *OPTIONS])
def test_every_variant_is_a_model_with_its_tuned_values(method):
    model = margin_forest(method, tiny(), "wine", TUNED, seed=3, n_jobs=1)
    assert (model.theta, model.mu_loss, model.random_state) == (0.8, 0.05, 3)
    assert model.n_estimators == 2
    reference = margin_forest("mdDF", tiny(), "wine", TUNED, seed=3, n_jobs=1)
    assert (model.get_params() == reference.get_params()) == (method == "mdDF")


def test_gcforest_has_the_same_forests():
    assert list(gc_forest(tiny(), "wine", 0, 1).forests) == list(tiny().get("forests", "wine"))


def test_a_grid_of_one_point_is_not_searched():
    profile = tiny(thetas=[0.9], mus=[0.1], schedules=[4])
    found = tune(profile, "wine", None, None, 0, 1)
    assert found == Tuned(0.9, 0.1, 4, 1, 0.0)


def test_tuning_returns_a_point_of_the_grid():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    found = tune(tiny(thetas=[0.7, 0.9], mus=[0.05], schedules=[2]), "wine", X, y, 0, 1)
    assert found.theta in (0.7, 0.9)
    assert (found.mu, found.a, found.n_settings) == (0.05, 2, 2)
