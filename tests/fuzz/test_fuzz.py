"""Every estimator on odd tables: it fits and predicts, or says in a ValueError or TypeError what is wrong.

`make test` runs a few hundred cases, always the same ones; `make fuzz` at least ten thousand new ones
(SUREWOOD_FUZZ is their number). A crash, a hang, any other exception and any RuntimeWarning is a failure.
"""

import faulthandler
import json
import os
import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from sklearn.base import is_classifier

from tests.contract.estimators import deterministic, exported
from tests.fuzz.odd_tables import cases

TINY = {
    "BinnedForestClassifier": {"n_estimators": 3},
    "CascadeForestClassifier": {"n_estimators": 2, "max_layers": 2},
    "DeepCascadeClassifier": {"leaves": ("constant", "stump", "linear_svm"), "max_leaves": 2},
    "DeepCascadeSVMClassifier": {"max_leaves": 2, "degrees": (1, 2), "fractions": (0.3, 0.6)},
    "DeepCascadeSVMClassifierCV": {
        "cv": 2,
        "degrees": (1, 2),
        "fractions": (0.5,),
        "study": {"C_grid": (1.0,)},
    },
    "MarginDeepForestClassifier": {"n_estimators": 2, "max_layers": 2, "cv": 2},
    "MarginDeepForestClassifierCV": {"n_estimators": 2, "max_layers": 2, "cv": 2, "schedules": (2,)},
    "MultiGrainedScanner": {"n_estimators": 2},
    "RandomCompositeForestClassifier": {"n_estimators": 4},
    "RandomCompositeForestClassifierCV": {"n_estimators": (2, 4), "max_depth": (1, 2)},
}
WANTED = int(os.environ.get("SUREWOOD_FUZZ", "0"))
EXAMPLES = -(-WANTED // len(exported())) if WANTED else 25
LONGEST = 60.0  # seconds after which a case counts as a hang
profile = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not WANTED,
    database=None,
    phases=(Phase.explicit, Phase.generate) if WANTED else tuple(Phase),
    suppress_health_check=list(HealthCheck),
)


def run(cls, case):
    """Fit and predict; whether it was possible."""
    settings_ = dict(TINY.get(cls.__name__, {}))
    for name in ("class_weight", "categorical_features"):
        if name in cls().get_params():
            settings_[name] = getattr(case, name)
    model = deterministic(cls, **settings_)
    try:
        model.fit(case.X, case.y, sample_weight=case.sample_weight)
    except (ValueError, TypeError) as error:
        if len(str(error)) < 10:
            raise AssertionError("an error without a message") from error
        assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
        return False
    if not is_classifier(model):
        assert np.isfinite(model.transform(case.X)).all()
        return True
    proba = model.predict_proba(case.X)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (np.asarray(model.classes_)[proba.argmax(axis=1)] == model.predict(case.X)).all()
    head = case.X[:2] if isinstance(case.X, list) or not hasattr(case.X, "tocsr") else case.X.tocsr()[:2]
    told = model.explain(head)
    json.dumps(told, allow_nan=False)
    assert len(told) == min(2, len(proba))
    return True


@pytest.mark.parametrize("cls", exported(), ids=lambda c: c.__name__)
def test_fits_and_predicts_or_says_what_is_wrong(cls):
    fitted = []

    @profile
    @given(cases())
    def check(case):
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)
                fitted.append(run(cls, case))
        finally:
            faulthandler.cancel_dump_traceback_later()

    check()
    assert 0.1 < np.mean(fitted) < 0.95, "the cases should be neither all sound nor all broken"
