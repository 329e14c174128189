"""Contrast classifiers in margin forests: when they are offered, and what a fit with one is like."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import surewood
from surewood.deepforest import MarginDeepForestClassifier, MarginDeepForestClassifierCV
from surewood.deepforest.wide_tables import contrast_bytes, suits_contrasts
from surewood.tables import TableSchema


def wide_rows(n_rows, seed=0):
    """Four classes, told by the signs of two mixtures of a hundred and twenty columns."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).normal(size=(6, 120))
    latent = rng.normal(size=(n_rows, 6))
    X = np.tanh(latent @ mixing / 2.0) + 0.3 * rng.normal(size=(n_rows, 120))
    y = 2 * (latent[:, 0] * latent[:, 1] > 0) + (latent[:, 2] > 0)
    return X, np.array(["a", "b", "c", "d"])[y]


def margin_forest(**options):
    return MarginDeepForestClassifier(10, **{"max_layers": 2, "random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    X, y = wide_rows(1200)
    return margin_forest(n_jobs=1).fit(X, y), X, y


def suits(X):
    return suits_contrasts(TableSchema.learn(X).read(X))


def test_which_tables_are_offered_contrasts():
    X, _ = wide_rows(1000)
    assert suits(X)
    assert suits(pd.DataFrame(X))
    assert not suits(X[:, :99])
    assert not suits(X[:999])
    assert not suits(sp.csr_matrix(X))
    gaps = X.copy()
    gaps[3, 5] = np.nan
    assert not suits(gaps)
    assert not suits(pd.DataFrame(X).assign(kind=pd.Categorical(["x"] * 1000)))


def test_contrasts_are_chosen_where_it_is_better(fitted):
    model, _, _ = fitted
    assert model.forests_ == [("contrast", 0), ("extra", 10)]
    X, y = wide_rows(1000, seed=1)
    four = ["extra"] * 4
    forests = margin_forest(forests=four).fit(*wide_rows(1200))
    assert model.layers_[0].accuracy > forests.layers_[0].accuracy + 0.02
    assert model.score(X, y) > forests.score(X, y) + 0.02


def test_a_table_that_does_not_need_it_keeps_its_forests():
    X, _ = wide_rows(1000)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    offered = margin_forest(max_layers=1).fit(X, y)
    assert "contrast" not in [kind for kind, _ in offered.forests_]
    assert offered.model_.reader.numbers is None
    limited = margin_forest(max_layers=1, max_memory=2e7).fit(X, y)  # too little for the classifier
    assert limited.forests_ == offered.forests_
    np.testing.assert_array_equal(limited.predict_proba(X), offered.predict_proba(X))


def test_threads_and_the_order_of_rows_do_not_matter(fitted):
    model, X, y = fitted
    order = np.random.default_rng(5).permutation(len(y))
    again = margin_forest(n_jobs=3).fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.held_out_scores_, model.held_out_scores_[order])


def test_weight_two_is_the_row_twice():
    X, y = wide_rows(1000)
    weight = np.where(np.arange(1000) % 7 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(1000), weight.astype(int))
    one = margin_forest(forests=["contrast", "extra"], max_layers=1).fit(X, y, sample_weight=weight)
    other = margin_forest(forests=["contrast", "extra"], max_layers=1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_row_alone_is_predicted_as_among_others(fitted):
    model, X, _ = fitted
    np.testing.assert_array_equal(model.predict_proba(X[70:71]), model.predict_proba(X)[70:71])


def test_saved_and_loaded(fitted, tmp_path):
    model, X, _ = fitted
    again = surewood.load(surewood.save(model, tmp_path / "wide.surewood"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_importances_and_explanations_speak_of_columns(fitted):
    model, X, _ = fitted
    assert model.feature_importances_.shape == (120,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    told = model.explain(X[:1])[0]["layers"][0]
    assert [forest["kind"] for forest in told["forests"]] == ["contrast", "extra"]
    assert told["features"][0]["splits"] > 0


def test_lists_of_depths_and_searches_compare_forests_only():
    X, y = wide_rows(1000)
    listed = margin_forest(max_layers=1, depth_schedule=[8, 8, 8, 8]).fit(X, y)
    assert len(listed.forests_) == 4
    search = MarginDeepForestClassifierCV(
        3, thetas=[0.8], mus=[0.05], schedules=[8], max_layers=1, random_state=0
    )
    assert len(search.fit(X, y).forests_) == 4


def test_the_cost_includes_the_contrasts():
    X, y = wide_rows(1000)
    with_contrasts = margin_forest(n_jobs=2).estimate_cost(X, y)
    without = margin_forest(n_jobs=2, forests=["extra"] * 4).estimate_cost(X, y)
    assert with_contrasts.parts["contrasts"] == contrast_bytes(1000, 120, 2)
    assert without.parts["contrasts"] == 0
    assert with_contrasts.memory_bytes > without.memory_bytes
