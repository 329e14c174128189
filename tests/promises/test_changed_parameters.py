"""Parameters changed after the fit."""

from surewood import PolySVC
from surewood.certify import certify
from tests.promises.population import draw


def test_set_params_changes_nothing():
    X, y = draw(150, 0)
    model = PolySVC(gamma=1.0, scale=False, degree=2).fit(X, y)
    before = certify(model).to_dict()
    model.set_params(degree=1, C=1e-3)
    assert certify(model).to_dict() == before
