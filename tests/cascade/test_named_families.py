import math

import numpy as np
import pytest

from surewood.cascade import (
    StumpFamily,
    ThresholdFamily,
)
from surewood.cascade.named_families import NAMED, as_families
from tests.cascade.family_samples import CODES, THREE, X


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(("codes", "n_classes"), [(CODES, 2), (THREE, 3)])
def test_every_family_fits_scores_orders_and_knows_its_complexity(name, codes, n_classes):
    family = as_families("leaves", name)[0]
    member = family.fit(X, codes, np.ones(60), n_classes)
    scores = member.scores(X)
    assert scores.shape == (60, n_classes)
    accuracy = (scores.argmax(axis=1) == codes).mean()
    assert accuracy >= np.bincount(codes).max() / 60
    assert 0 <= family.rademacher(X, n_classes) <= math.sqrt(2 * math.log(2)) + 1e-12
    if family.can_order:
        assert member.order(X).shape == (60,)
        assert 0 <= family.split_rademacher(X, n_classes) <= math.sqrt(math.log(2) / 2) + 1e-12


def test_names_that_are_none():
    with pytest.raises(ValueError, match="leaves must hold families, or names among constant, threshold"):
        as_families("leaves", ["forest"])
    with pytest.raises(TypeError, match="splits must be a list of families or of their names, got 3"):
        as_families("splits", 3)
    with pytest.raises(ValueError, match=r"ThresholdFamily\(feature=9\): the sample has 3 columns"):
        ThresholdFamily(9).fit(X, CODES, np.ones(60), 2)
    with pytest.raises(ValueError, match="complexity must be 'massart' or 'monte_carlo'"):
        StumpFamily("guess").rademacher(X, 2)
