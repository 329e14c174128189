"""States of format 1; the files themselves are in tests/saved_models."""

import numpy as np
import pytest

import surewood
from surewood.deepforest.model import CascadeForestModel, MarginForestModel
from tests.saved_models.make_saved_models import HERE, table


def load(name):
    return surewood.load(HERE / "format-1" / f"{name}.surewood")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MarginDeepForestClassifier", MarginForestModel),
        ("MarginDeepForestClassifierCV", MarginForestModel),
        ("CascadeForestClassifier", CascadeForestModel),
    ],
)
def test_old_states_become_frozen_models(name, kind):
    model = load(name)
    assert type(model.model_) is kind
    assert set(vars(model)) >= set(model.get_params())
    assert not {"n_folds", "reader_", "settings_", "cross_fit", "layers_"} & set(vars(model))
    assert len(model.layers_) >= model.n_layers_ == len(model.model_.layers)
    assert model.held_out_scores_.shape == (60, 3)
    assert model.held_out_labels_.shape == (60,)
    assert all(isinstance(kind, str) for kind, _ in model.forests_)
    assert model.get_params()["cv"] in (2, 5)
    evidence = list(model.__certificate_evidence__())
    assert evidence[0].used_for_selection
    X, y = table()
    np.testing.assert_array_equal(model.fit(X, y).classes_, np.unique(y))  # its parameters are valid ones


def test_an_old_search_has_results():
    model = load("MarginDeepForestClassifierCV")
    assert model.cv_results_["params"][model.best_index_] == model.best_params_
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert model.model_.comparisons.settings == len(model.cv_results_["params"])


def test_an_old_scanner_scans():
    scanner = load("MultiGrainedScanner")
    assert (scanner.n_folds, scanner.model_.n_folds) == (3, 3)
    X, _ = table(numbers_only=True)
    assert scanner.transform(X).shape == (60, len(scanner.get_feature_names_out()))
