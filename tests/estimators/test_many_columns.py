"""Explaining models of many columns: the least important ones count as one."""

import numpy as np
import pandas as pd
import pytest

from surewood import MarginDeepForestClassifier, PolySVC
from surewood.estimators.many_columns import KEPT_COLUMNS, MOST_COLUMNS, with_least_important_joined
from surewood.inspect import contributions, permutation_importances


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, MOST_COLUMNS + 200))).add_prefix("gene_")
    return X, np.where(X["gene_3"] > 0, "ill", "well")


@pytest.fixture(scope="module")
def forest(wide):
    return MarginDeepForestClassifier(10, max_layers=1, random_state=0, n_jobs=1).fit(*wide)


def test_few_columns_stay_as_they_are():
    names, positions = with_least_important_joined(None, ["a", "b"], [[0], [1, 2]])
    assert (names, positions) == (["a", "b"], [[0], [1, 2]])


def test_every_column_is_in_one_group(wide, forest):
    n = wide[0].shape[1]
    for model in (forest, None):
        names, positions = with_least_important_joined(model, list(wide[0]), [[j] for j in range(n)])
        assert len(names) == len(set(names)) == len(positions) <= KEPT_COLUMNS + 1
        assert sorted(j for own in positions for j in own) == list(range(n))


def test_contributions_of_a_wide_table_sum_to_the_prediction(wide, forest):
    X, _ = wide
    found = contributions(forest, X[:2], X)
    assert found.values.shape == (2, KEPT_COLUMNS + 1, 2)
    assert found.columns[-1] == f"{X.shape[1] - KEPT_COLUMNS:,} other columns"
    np.testing.assert_allclose(found.predictions, forest.predict_proba(X[:2]))
    assert len(found.cells[0][-1]) < 200
    assert "gene_3" in found.columns


def test_importances_of_a_wide_table(wide, forest):
    found = permutation_importances(forest, *wide, n_repeats=1)
    assert len(found.columns) == KEPT_COLUMNS + 1
    assert found.mean[found.columns.index("gene_3")] > 0
    assert found.columns[-1].endswith("other columns")
    assert np.isfinite(found.mean).all()


def test_a_model_without_importances_gets_neighbours(wide):
    X, y = wide
    found = contributions(PolySVC(C=1.0, degree=1).fit(X, y), X[:1], X)
    assert len(found.columns) == KEPT_COLUMNS
    assert found.columns[0] == "gene_0 to gene_4 (5 columns)"
