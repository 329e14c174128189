import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.deepforest import CascadeForestClassifier, MarginDeepForestClassifier
from surewood.deepforest.model import CascadeForestModel, MarginForestModel
from surewood.tables import begin_predict


@pytest.fixture(scope="module", params=[MarginDeepForestClassifier, CascadeForestClassifier])
def fitted(request):
    X, y = load_wine(return_X_y=True)
    return request.param(3, forests=["random", "extra"], max_layers=2, random_state=0).fit(X, y), X


def test_the_fitted_state_is_one_frozen_object(fitted):
    model, _ = fitted
    assert isinstance(model.model_, MarginForestModel | CascadeForestModel)
    own = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert own == {"model_", "classes_", "schema_", "n_features_in_", "remembered_rows_", "background_"}
    for field in fields(model.model_):
        with pytest.raises(FrozenInstanceError):
            setattr(model.model_, field.name, None)


def test_the_model_predicts_without_the_estimator(fitted):
    model, X = fitted
    table = begin_predict(model, X)
    again = pickle.loads(pickle.dumps(model.model_))
    np.testing.assert_array_equal(again.probabilities(table, 1), model.predict_proba(X))
    *_, scores = again.staged_scores(table, 1)
    np.testing.assert_array_equal(again.calibrated(scores), model.predict_proba(X))


def test_parameters_set_after_the_fit_change_nothing(fitted):
    model, X = fitted
    expected, evidence = model.predict_proba(X), list(model.__certificate_evidence__())
    before = model.get_params()
    changed = {"forests": ["extra"], "cv": 2, "max_layers": 7, "calibrate": False, "n_estimators": 9}
    model.set_params(**changed, study={"validation_fraction": 0.4, "patience": 1})
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    assert list(model.__certificate_evidence__()) == evidence
    assert model.forests_ == [("random", 3), ("extra", 3)]
    assert [f["kind"] for f in model.explain(X[:1])[0]["layers"][0]["forests"]] == ["random", "extra"]
    model.set_params(**before)
