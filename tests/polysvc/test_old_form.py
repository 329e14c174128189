"""Fitted states of format 1 become a `model_`."""

import numpy as np

from surewood import PolySVC
from surewood.polysvc.old_form import translated
from tests.svm.reference import blobs

X, Y = blobs(120, 4, 3, 1)


def test_the_attributes_of_format_1_become_one_object():
    fitted = PolySVC(degree=2).fit(X, Y)
    model = fitted.model_
    old = {
        **{k: v for k, v in vars(fitted).items() if k not in ("model_", "calibrate", "remember_rows")},
        "probability": True,
        "_predictor": model.predictor,
        "_encoder": model.encoder,
        "_center": model.center,
        "_calibration": model.calibration,
        "_support_origin": model.support_origin,
        "_compression": list(model.compression),
        "_fixed_design": model.fixed_design,
        "_unweighted": model.unweighted,
    }
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "kernel_scale_",
                 "n_iter_", "fit_status_"):  # fmt: skip
        old[name] = getattr(fitted, name)
    again = PolySVC.__new__(PolySVC)
    again.__setstate__(old)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.support_, fitted.support_)
    assert again.calibrate is True
    assert [type(e) for e in again.__certificate_evidence__()] == [
        type(e) for e in fitted.__certificate_evidence__()
    ]


def test_a_state_of_today_stays():
    state = {"model_": 1}
    assert translated(state) is state
