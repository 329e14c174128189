"""Contrast classifiers: their units, their softmax, and margin forests with one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

import surewood
from surewood.deepforest import MarginDeepForestClassifier, MarginDeepForestClassifierCV
from surewood.deepforest.contrasts import ContrastUnits, _ContrastClassifier, suits_contrasts
from surewood.tables import TableSchema


def drawn(X, n_units=40, n_kept=15, seed=0):
    return ContrastUnits.draw(X, n_units, n_kept, np.random.RandomState(seed))


def test_units_are_squared_distances_along_contrasts_beyond_a_threshold():
    X = np.random.default_rng(0).normal(size=(60, 7)) * [1, 10, 100, 1e-3, 1, 1, 1]
    units = drawn(X)
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    kept = units.rows.astype(np.float64)
    assert all((np.abs(scaled - row).max(axis=1) < 1e-6).any() for row in kept)  # training rows
    values = units.values(units.projections(X))
    for j in range(units.n_units):
        along = scaled @ (kept[units.first[j]] - kept[units.second[j]])
        far = np.maximum(0.0, units.slope[j] * along - units.threshold[j])
        np.testing.assert_allclose(values[:, j], far**2, atol=2e-4)
    ends = units.first != units.second
    shares = (values > 0).mean(axis=0)[ends]
    assert shares.min() >= 0.05
    assert shares.max() <= 0.95


def test_equal_rows_and_constant_columns_give_units_of_nothing():
    X = np.ones((30, 5))
    np.testing.assert_array_equal(drawn(X).values(drawn(X).projections(X + 1.0)), 0.0)


def test_huge_numbers_have_a_range():
    X = np.array([[-1.7e308, 1.0], [1.7e308, 2.0], [0.0, 3.0]])
    units = drawn(X)
    assert np.isfinite(units.values(units.projections(X))).all()


@pytest.fixture(scope="module")
def digits():
    return train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)


def reference(classifier, X, y, weight):
    """The same softmax in double precision, with the centred units of all rows in memory."""
    units = classifier.units_
    H = units.values(units.projections(X)).astype(np.float64)
    mean = np.average(H, axis=0, weights=weight)
    H -= mean
    Y = (y[:, None] == classifier.classes_).astype(np.float64)
    frequency = np.average(Y, axis=0, weights=weight)
    inner = H.T @ (weight[:, None] * H)
    ridge = classifier.ridge * np.trace(inner) / len(inner)
    inner += ridge * np.eye(len(inner))
    coef = 8.0 * np.linalg.solve(inner, H.T @ (weight[:, None] * (Y - frequency)))
    offset = 4.0 * (2.0 * frequency - 1.0)
    v, c, t = coef, offset, 1.0
    for _ in range(classifier.n_steps):
        p = np.exp(H @ v + c)
        miss = 2.0 * weight[:, None] * (Y - p / p.sum(axis=1, keepdims=True))
        new = v + np.linalg.solve(inner, H.T @ miss - 0.1 * ridge * v)
        lifted = c + miss.sum(axis=0) / weight.sum()
        s = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        v, c = new + (t - 1.0) / s * (new - coef), lifted + (t - 1.0) / s * (lifted - offset)
        coef, offset, t = new, lifted, s
    scores = H @ coef + offset
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_rows_give_the_softmax_of_all_rows(digits, weighted):
    X, _, y, _ = digits
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y)) if weighted else np.ones(len(y))
    weight /= weight.mean()
    classifier = _ContrastClassifier(100, ridge=1e-2, random_state=0)
    classifier.fit(X, y, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(classifier.predict_proba(X), reference(classifier, X, y, weight), atol=2e-3)


def test_steps_lower_the_loss(digits):
    X, _, y, _ = digits
    rows = np.arange(len(y))
    losses = [
        -np.log(_ContrastClassifier(n_steps=n, random_state=0).fit(X, y).predict_proba(X)[rows, y]).mean()
        for n in (0, 2, 5, 10, 20)
    ]
    assert (np.diff(losses) < 0).all()


def test_it_sees_what_trees_do_not(digits):
    X, X_test, y, y_test = digits
    trees = ExtraTreesClassifier(100, random_state=0).fit(X, y).score(X_test, y_test)
    classifier = _ContrastClassifier(random_state=0).fit(X, y)
    assert classifier.units_.n_units == len(X) // 4
    assert classifier.score(X_test, y_test) > trees


def test_the_labels_do_not_choose_the_units(digits):
    X, _, y, _ = digits
    one = _ContrastClassifier(50, random_state=3).fit(X, y).units_
    other = _ContrastClassifier(50, random_state=3).fit(X, y[::-1]).units_
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name))


def test_a_row_is_judged_alike_wherever_it_stands(digits):
    X, X_test, y, _ = digits
    classifier = _ContrastClassifier(150, random_state=0).fit(X, y)
    together = classifier.predict_proba(X_test)
    np.testing.assert_array_equal(classifier.predict_proba(X_test[7:300]), together[7:300])
    np.testing.assert_array_equal(classifier.predict_proba(X_test[500:501]), together[500:501])
    np.testing.assert_allclose(together.sum(axis=1), 1.0)


def test_two_classes_few_rows_and_labels_of_text():
    X = np.random.default_rng(0).normal(size=(9, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    classifier = clone(_ContrastClassifier(random_state=0)).fit(X, y)
    assert set(classifier.predict(X)) <= {"up", "down"}
    assert np.isfinite(classifier.predict_proba(X)).all()
    constant = _ContrastClassifier(random_state=0).fit(np.ones((9, 3)), y)
    frequency = np.mean(y == "up")
    assert (constant.predict_proba(X)[0, 1] > 0.5) == (frequency > 0.5)


@pytest.mark.parametrize(("noise", "ridge"), [(0.0, 1e-9), (0.0, 1e-4), (1e-7, 1e-9), (1e-3, 1e-4)])
def test_columns_that_all_say_the_same(noise, ridge):
    """Units are dependent then, up to single precision: the ridge grows until the factor exists."""
    rng = np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, 3000)
    X = z[:, None] * rng.uniform(1.0, 2.0, 120) + noise * rng.normal(size=(3000, 120))
    y = np.digitize(z, [-0.6, 0.1, 0.3])
    classifier = _ContrastClassifier(ridge=ridge, random_state=0).fit(X, y)
    assert np.isfinite(classifier.coef_).all()
    assert classifier.score(X, y) > 0.9


def test_infinite_numbers_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="numbers that are finite and not missing"):
        _ContrastClassifier(random_state=0).fit(X, X[:, 0] > 0)


def test_another_thread_can_stop_a_fit():
    X = np.random.default_rng(0).normal(size=(20_000, 100))
    with pytest.raises(InterruptedError, match="stopped"):
        _ContrastClassifier(random_state=0).fit(X, X[:, 0] > 0, stop=np.ones(1, dtype=np.uint8))


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
    assert not offered.model_.reader.has_numbers


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
