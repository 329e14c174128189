"""The best of many models on one holdout."""

from surewood.certify import certify
from tests.promises.population import draw, memorising_forest


def test_every_model_compared_is_paid_for():
    X, y = draw(200, 0)
    model, holdout = memorising_forest(X, y), draw(100, 1)
    values = [certify(model, *holdout, n_models=n).best.value for n in (1, 10, 1000)]
    assert values == sorted(values)
    assert values[0] < values[1] < values[2]
    assert certify(model, *holdout, n_models=10).entries[1].biased
