"""[D-35]: rows that a fit ignored, or unequal weights, leave no guarantee from the training sample."""

import numpy as np
import pytest

from surewood.certify import certify
from tests.contract.estimators import classifiers, small
from tests.promises.population import draw

CLASSES = classifiers()


def _fit(kind, sample_weight=None, **options):
    X, y = draw(160, 0)
    model = small(kind, **options)
    return model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)


def _no_guarantee_without_a_holdout(model):
    certificate = certify(model)
    assert certificate.guarantees == ()
    new, labels = draw(200, 1)
    assert {entry.sample for entry in certify(model, new, labels).guarantees} <= {"holdout"}


@pytest.mark.parametrize("kind", CLASSES)
def test_rows_of_weight_zero(kind):
    weight = np.ones(160)
    weight[draw(160, 0)[1] == 1] = 0.0
    weight[:2] = 1.0
    _no_guarantee_without_a_holdout(_fit(kind, weight))


@pytest.mark.parametrize("kind", CLASSES)
def test_unequal_weights(kind):
    _no_guarantee_without_a_holdout(_fit(kind, 1.0 + np.arange(160) / 160))


@pytest.mark.parametrize("kind", CLASSES)
def test_a_class_of_weight_zero(kind):
    if "class_weight" not in kind().get_params():
        pytest.skip("no class_weight")
    _no_guarantee_without_a_holdout(_fit(kind, class_weight={0: 1.0, 1: 0.0}))
