"""[D-43]: ways to get a false guarantee from a forest that needs no holdout."""

from typing import ClassVar

import numpy as np
import pytest

from surewood import BinnedForestClassifier
from surewood.certify import certify
from tests.promises.forest_attacks import ForestAttacks
from tests.promises.population import draw, is_true


class TestBinnedForest(ForestAttacks):
    kind, n_trees = BinnedForestClassifier, 30
    changes: ClassVar = {"bootstrap": False}
    grid: ClassVar = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}
    searched: ClassVar = {}

    def test_a_clean_fit_is_guaranteed_and_true(self):
        certificate = certify(self.forest(min_samples_leaf=20).fit(*draw(3000, 0)))
        assert len(certificate.guarantees) == 2
        assert is_true(certificate)

    @pytest.mark.parametrize("seed", range(3))
    def test_labels_that_are_coins(self, seed):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
        assert is_true(certify(self.forest().fit(X, y)), least=0.5)
