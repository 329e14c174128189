import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import PredefinedSplit

import surewood
from surewood import DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.3, random_state=1)


def small(**changes):
    settings = {"max_leaves": 3, "fractions": (0.3, 0.6), "degrees": (1, 2), "cv": 3, "random_state": 0}
    return DeepCascadeSVMClassifierCV(**{**settings, **changes})


def test_candidates_and_choice(moons):
    model = small().fit(*moons)
    table = pd.DataFrame(model.cv_results_)
    assert set(table["kind"]) == {"plain", "path", "leaves"}
    assert table["degree"][:2].tolist() == [1, 2]
    chosen = table.loc[model.best_index_]
    base = table[table["kind"] == "plain"]["error"].min()
    assert chosen["error"] <= base
    if chosen["kind"] == "plain":
        assert model.cascades_[0].n_leaves == 1
        assert model.gamma_scale_ is None
    assert model.search_[0].path.n_leaves == model.cascades_[0].n_leaves


def test_a_cascade_is_taken_when_it_is_better():
    # Far from the line through the middle everything is easy; near it the classes form a chequerboard that
    # one machine of low degree cannot follow while it also gets the rest right.
    rng = np.random.default_rng(3)
    X = np.c_[rng.uniform(-4, 4, 900), rng.uniform(-1, 1, 900)]
    near = np.abs(X[:, 0]) < 1
    y = np.where(near, (X[:, 0] * X[:, 1] > 0), X[:, 0] > 0).astype(int)
    settings = {"max_leaves": 2, "degrees": (1, 2), "gamma_min": 1e-3, "random_state": 0}
    model = DeepCascadeSVMClassifierCV(cv=3, study={"max_svms": 500}, **settings).fit(X[:600], y[:600])
    assert model.cascades_[0].n_leaves == 2
    plain = DeepCascadeSVMClassifier(max_leaves=1, degrees=(1, 2), gamma_scale=0.0, random_state=0)
    assert model.score(X[600:], y[600:]) > plain.fit(X[:600], y[:600]).score(X[600:], y[600:]) + 0.03


def test_one_given_split_without_refit(moons):
    X, y = moons
    fold = np.where(np.arange(120) < 80, -1, 0)
    model = small(cv=PredefinedSplit(fold), refit=False).fit(X, y)
    assert model.search_[0].total == 80
    held_out = (model.predict(X[80:]) != y[80:]).mean()
    assert held_out == pytest.approx(model.cv_results_["error"][model.best_index_])
    assert len(model.out_of_fold_.codes) == 40
    again = small(cv=[(np.arange(80), np.arange(80, 120))], refit=False).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    # The held-out rows do not touch the model: neither scaling nor machines.
    moved = X.copy()
    moved[80:] *= 5
    same_C = small(C=1.0, cv=PredefinedSplit(fold), refit=False, study={"standard_errors": 1e9}, degrees=(2,))
    np.testing.assert_array_equal(
        same_C.fit(X, y).decision_function(X[:80]), same_C.fit(moved, y).decision_function(X[:80])
    )


def test_refit_false_needs_one_split(moons):
    with pytest.raises(ValueError, match="refit=False keeps the model of the training part"):
        small(refit=False).fit(*moons)


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    for multiclass in ("one_vs_rest", "native"):
        model = small(multiclass=multiclass, max_leaves=2, cv=2).fit(X, y)
        assert model.score(X, y) > 0.93
        np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": "validation"}, "C must be 'auto', a number above 0 or a list of numbers above 0"),
        ({"cv": 1}, "cv must be an integer of at least 2, a validation fraction strictly between 0 and 1 or"),
        ({"cv": []}, "cv has no split"),
        ({"cv": [(np.arange(5), np.array([], dtype=int))]}, "cv has a split without"),
        ({"gamma_min": -1}, "gamma_min must be a number of at least 0, got -1"),
        ({"leaf_gammas": (0.0,)}, "leaf_gammas must be a list of numbers above 0, which may be empty, got"),
        ({"study": {"standard_errors": -1}}, "must be a number of at least 0, got -1"),
    ],
)
def test_bad_settings_are_named(moons, changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes).fit(*moons)


def test_jobs_change_nothing(moons):
    first, second = small(n_jobs=1).fit(*moons), small(n_jobs=2).fit(*moons)
    np.testing.assert_array_equal(first.predict_proba(moons[0]), second.predict_proba(moons[0]))
    for name, values in first.cv_results_.items():
        np.testing.assert_array_equal(values, second.cv_results_[name])


def test_weight_two_is_the_row_twice_with_given_folds(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    group = np.arange(120) % 2
    folds = [(np.flatnonzero(group == 0), np.flatnonzero(group == 1))]
    weighted = small(cv=folds).fit(X, y, sample_weight=weight).decision_function(X)
    wide = np.repeat(group, weight)
    folds = [(np.flatnonzero(wide == 0), np.flatnonzero(wide == 1))]
    repeated = small(cv=folds).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_array_equal(weighted, repeated)


def test_models_are_saved_and_loaded(moons, tmp_path):
    model = small().fit(*moons)
    again = surewood.load(surewood.save(model, tmp_path / "model.surewood"))
    np.testing.assert_array_equal(again.predict_proba(moons[0]), model.predict_proba(moons[0]))
    np.testing.assert_array_equal(again.decision_path(moons[0]), model.decision_path(moons[0]))
