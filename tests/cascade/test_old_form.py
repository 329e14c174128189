"""Models of format 1 come back in today's form."""

import numpy as np
import pytest

import surewood
from surewood.cascade.old_form import constant_of_today, penalty_of_today, renamed, results_of_today
from tests.saved_models.make_saved_models import HERE, table


@pytest.mark.parametrize("name", ["DeepCascadeSVMClassifier", "DeepCascadeSVMClassifierCV"])
def test_an_old_svm_cascade_has_one_model_and_todays_parameters(name):
    model = surewood.load(HERE / "format-1" / f"{name}.surewood")
    assert not [key for key in vars(model) if key.startswith("_")]
    assert (model.C, model.calibrate, model.time_limit) == ("auto", True, None)
    assert set(vars(model)) >= set(model.get_params())
    assert len(model.search_) == len(model.cascades_) == 3
    assert all(found.n_svms > 0 for found in model.search_)
    assert set(model.ledger()) == {"high", "low", "middle"}
    assert model.max_leaves == 2
    if name.endswith("CV"):
        assert model.study == {"max_svms": 50}
        assert 0 < model.best_score_ < 1
        assert set(model.best_params_) <= {"degrees", "max_leaves", "gamma_scale", "n_leaves"}


def test_an_old_model_is_saved_again(tmp_path):
    frame, _ = table()
    for name in ("DeepCascadeClassifier", "DeepCascadeSVMClassifier"):
        model = surewood.load(HERE / "format-1" / f"{name}.surewood")
        again = surewood.load(surewood.save(model, tmp_path / "again.surewood"))
        np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.get_params().keys() == model.get_params().keys()


def test_an_old_generic_cascade():
    model = surewood.load(HERE / "format-1" / "DeepCascadeClassifier.surewood")
    assert len(model.ledger()) == len(model.leaf_families_)
    assert model.splits == ("linear_svm",)
    assert model.gamma_scale_ == model.gamma_scale == 0.01


def test_constants_were_class_codes():
    assert constant_of_today(1, 2) == 1.0
    assert constant_of_today(0, 2) == -1.0
    assert constant_of_today(2, 3) == (-1.0, -1.0, 1.0)
    assert constant_of_today(0.25, 2) == 0.25


def test_penalties_by_name_are_auto():
    state = {"C": "cv"}
    penalty_of_today(state, has_selection=True)
    assert state == {"C": "auto", "C_selection": "cv"}
    state = {"C": "cv"}
    penalty_of_today(state, has_selection=False)
    assert state == {"C": "auto"}
    state = {"C": 1.0}
    penalty_of_today(state, has_selection=True)
    assert state == {"C": 1.0}


def test_results_get_the_columns_of_today():
    old = {
        "kind": np.array(["plain", "path", "leaves"]),
        "degree": np.array([2.0, np.nan, np.nan]),
        "gamma_scale": np.array([np.nan, 0.1, 0.01]),
        "n_leaves": np.array([1.0, 1.5, 3.0]),
        "error": np.array([0.2, 0.1, 0.2]),
    }
    new = results_of_today(old)
    expected = [
        {"max_leaves": 1, "degrees": (2,)},
        {"gamma_scale": 0.1},
        {"gamma_scale": 0.01, "n_leaves": 3},
    ]
    assert new["params"] == expected
    assert new["rank_test_score"].tolist() == [2, 1, 2]
    np.testing.assert_allclose(new["mean_test_score"], [0.8, 0.9, 0.8])
    assert results_of_today(new) is new


def test_fields_are_renamed():
    assert renamed({"a": 1, "b": 2}, {"a": "c"}) == {"c": 1, "b": 2}
