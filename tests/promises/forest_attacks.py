"""[D-43]: ways to get a false guarantee from any forest that needs no holdout."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surewood.certify import certify
from tests.promises.population import draw, is_true, says_nothing_of_groups_or_time


class ForestAttacks:
    """The attacks; a subclass says which forest they are on."""

    #: The class, its number of trees, and what a user may change after the fit.
    kind: ClassVar[type]
    n_trees: ClassVar[int]
    changes: ClassVar[dict]
    #: Settings of a search, and the other options of its forest.
    grid: ClassVar[dict]
    searched: ClassVar[dict]

    def forest(self, **options):
        return self.kind(**({"n_estimators": self.n_trees, "certifiable": True, "random_state": 0} | options))

    @pytest.mark.parametrize("least", [0.0, 1.0])
    def test_rows_of_weight_zero_and_weighted_rows(self, least):
        X, y = draw(600, 0)
        weight = np.where(y == (X[:, 0] > 0), least + 1.0, least)  # the rows that are easy weigh more
        assert certify(self.forest().fit(X, y, sample_weight=weight)).guarantees == ()

    @pytest.mark.parametrize("weight", [{0: 1.0, 1: 0.0}, "balanced"])
    def test_weights_of_classes(self, weight):
        assert certify(self.forest(class_weight=weight).fit(*draw(400, 0))).guarantees == ()

    @pytest.mark.parametrize(("n", "times"), [(150, 4), (10, 100)])
    def test_rows_copied_many_times(self, n, times):
        X, y = draw(n, 0)
        y[:2] = 0, 1
        assert certify(self.forest().fit(np.tile(X, (times, 1)), np.tile(y, times))).guarantees == ()

    def test_parameters_changed_after_the_fit(self):
        model = self.forest().fit(*draw(400, 0))
        before = certify(model).to_json()
        model.set_params(certifiable=False, n_estimators=1, **self.changes)
        assert certify(model).to_json() == before
        ordinary = self.forest(certifiable=False).fit(*draw(400, 0))
        assert certify(ordinary.set_params(certifiable=True)).guarantees == ()

    def test_a_scaler_fitted_before_the_forest(self):
        pipeline = make_pipeline(StandardScaler(), self.forest()).fit(*draw(400, 0))
        assert certify(pipeline).guarantees == ()
        assert certify(pipeline, fixed_features=True).guarantees == ()

    def test_rows_in_groups_or_in_time(self):
        assert says_nothing_of_groups_or_time(self.forest().fit(*draw(400, 0)), 400)

    def test_every_setting_of_a_search_is_paid_for(self):
        search = GridSearchCV(self.forest(**self.searched), self.grid, cv=2).fit(*draw(300, 0))
        entries = certify(search).guarantees
        n_settings = int(np.prod([len(values) for values in self.grid.values()]))
        assert [entry.n_models for entry in entries] == [n_settings, n_settings]
        alone = certify(search.best_estimator_).guarantees
        assert all(a.value <= b.value for a, b in zip(alone, entries))

    def test_training_rows_as_a_holdout(self):
        X, y = draw(400, 0)
        certificate = certify(self.forest(max_depth=8).fit(X, y), X, y)
        assert all(entry.sample == "out-of-bag" for entry in certificate.guarantees)
        assert is_true(certificate)
