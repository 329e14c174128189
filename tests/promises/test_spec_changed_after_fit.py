"""[D-37]: counts come from what fit recorded; set_params after fit changes nothing."""

import pytest

from surewood.certify import certify
from tests.contract.estimators import classifiers, small
from tests.promises.population import draw

CHANGES = {
    "max_depth": 1,
    "degrees": (1,),
    "max_features": 1,
    "n_estimators": 1,
    "max_leaves": 1,
    "fractions": (0.5,),
    "C": 1.0,
    "gamma_scale": 1.0,
    "max_layers": 1,
    "n_leaves": 1,
    "cv": 2,
    "leaf_gammas": (1.0,),
    "study": None,
}


@pytest.mark.parametrize("kind", classifiers())
def test_certificates_do_not_change(kind):
    X, y = draw(160, 0)
    new, labels = draw(150, 1)
    model = small(kind).fit(X, y)
    before = certify(model, new, labels).to_json()
    known = model.get_params(deep=False)
    for parameter, value in CHANGES.items():
        if parameter in known:
            model.set_params(**{parameter: value})
    assert certify(model, new, labels).to_json() == before
