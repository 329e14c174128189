"""Model files of format 1: the fitted state of many attributes becomes one model."""

import numpy as np
import pytest

import surewood
from surewood.composite.model import CompositeModel
from surewood.composite.old_form import model_of_old_state
from tests.saved_models.make_saved_models import HERE, table

NAMES = ("CompositeTreeClassifier", "RandomCompositeForestClassifier", "RandomCompositeForestClassifierCV")


@pytest.mark.parametrize("name", NAMES)
def test_an_old_model_has_todays_form(name):
    model = surewood.load(HERE / "format-1" / f"{name}.surewood")
    fresh = type(model)(**model.get_params())
    assert isinstance(model.model_, CompositeModel)
    assert {key for key in vars(model) if key.startswith("_") and not key.startswith("_sklearn")} == set()
    assert set(vars(fresh)) <= set(vars(model))
    frame, y = table()
    fresh.fit(frame, y)
    assert set(vars(model)) == set(vars(fresh))
    assert model.calibrate is True
    assert model.study == {"tol": 0.001}  # today the default is "auto"


@pytest.mark.parametrize("name", NAMES)
def test_an_old_model_answers_everything(name):
    model = surewood.load(HERE / "format-1" / f"{name}.surewood")
    frame, _ = table()
    assert len(model.ledger()) == model.model_.trees.leaves.tree.size
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert len(model.explain(frame.iloc[:2])) == 2
    assert list(model.__certificate_evidence__())
    assert np.isfinite(model.criterion_).all()


def test_the_depths_of_an_old_search_are_recorded():
    search = surewood.load(HERE / "format-1" / "RandomCompositeForestClassifierCV.surewood")
    assert search.model_.searched.max_depth == 2
    assert search.model_.searched.n_settings > 1


def test_todays_state_is_left_alone():
    state = {"calibrate": True, "model_": object()}
    assert model_of_old_state(dict(state)) == state
