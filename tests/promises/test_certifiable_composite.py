"""[D-43]: ways to get a false guarantee from a composite forest that needs no holdout."""

from typing import ClassVar

import numpy as np
import pytest

from surewood import RandomCompositeForestClassifier
from surewood.certify import certify
from tests.promises.forest_attacks import ForestAttacks
from tests.promises.population import draw, is_true


class TestCompositeForest(ForestAttacks):
    kind, n_trees = RandomCompositeForestClassifier, 8
    changes: ClassVar = {"plain_weight": 0.9, "selection": "exact"}
    grid: ClassVar = {"max_depth": [1, 2, 3]}
    searched: ClassVar = {"n_estimators": 4, "selection": "exact", "C": 1.0}

    def test_a_clean_fit_is_guaranteed_and_true(self):
        certificate = certify(self.forest(max_depth=1).fit(*draw(2000, 0)))
        assert len(certificate.guarantees) == 2
        assert is_true(certificate)

    @pytest.mark.parametrize("selection", ["auto", "exact"])
    @pytest.mark.parametrize("seed", range(3))
    def test_labels_that_are_coins(self, seed, selection):
        """Deep trees with a large C know their bags by heart, and the pilot compares on noise."""
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
        model = self.forest(selection=selection, max_depth=8, C=100.0).fit(X, y)
        assert is_true(certify(model), least=0.5)

    def test_a_column_that_only_rows_outside_the_bag_have_values_in(self):
        """What is missing in a bag says nothing to its tree."""
        X, y = draw(400, 0)
        rng = np.random.default_rng(1)
        X[:, 3] = np.where(rng.random(400) < 0.9, np.nan, y)
        assert is_true(certify(self.forest().fit(X, y)), least=0.2)
