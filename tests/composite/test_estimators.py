"""The tree, the forest and the search: what they share, their algorithm, their options, data as it comes."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV, load, save
from surewood import RandomCompositeForestClassifier as Forest
from tests.composite.composite_samples import sample

MODELS = [
    CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0),
    Forest(4, random_state=0),
    RandomCompositeForestClassifierCV(n_estimators=(2, 3), max_depth=(1, 2), random_state=0),
]


@pytest.mark.parametrize("model", MODELS)
def test_at_most_twenty_parameters_each_with_a_rule(model):
    parameters = set(model.get_params())
    assert len(parameters) <= 19  # one is kept free
    assert parameters == {*model._parameter_rules, "study"}


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_known_before_the_fit(model):
    fresh = type(model)()
    for use in (fresh.ledger, fresh.nodes, fresh.__certificate_evidence__):
        with pytest.raises(NotFittedError):
            use()
    with pytest.raises(NotFittedError):
        fresh.predict(np.zeros((1, 2)))
    assert not hasattr(fresh, "criterion_")


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_model_is_the_same(model, tmp_path):
    X, y = sample(80)
    model.fit(X, y)
    save(model, tmp_path / "model.surewood")
    again = load(tmp_path / "model.surewood")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.ledger().equals(model.ledger())
    assert again.explain(X[:2]) == model.explain(X[:2])
    assert repr(list(again.__certificate_evidence__())) == repr(list(model.__certificate_evidence__()))


@pytest.mark.parametrize("model", MODELS)
def test_training_rows_are_remembered(model):
    X, y = sample(80)
    model.fit(X[:60], y[:60])
    assert model.remembered_rows_.contains(X).tolist() == [True] * 60 + [False] * 20
    forgetful = type(model)(**{**model.get_params(), "remember_rows": False}).fit(X, y)
    assert forgetful.remembered_rows_ is None


@pytest.mark.parametrize("model", MODELS)
def test_max_memory_may_be_text(model):
    X, y = sample(80)
    expected = model.fit(X, y).predict_proba(X)
    roomy = type(model)(**{**model.get_params(), "max_memory": "2GB"})
    assert np.array_equal(roomy.fit(X, y).predict_proba(X), expected)
    small = type(model)(**{**model.get_params(), "max_memory": "1kB"})
    assert np.array_equal(small.fit(X, y).predict_proba(X), expected)


def quick(**parameters):
    return Forest(**({"n_estimators": 4, "random_state": 0} | parameters))


def polynomial(A, B):
    return (A @ B.T / A.shape[1] + 1.0) ** 2


def homogeneous(A, B):
    return (A @ B.T / A.shape[1]) ** 2


def normalized(A, B):
    norms = [np.sqrt(np.diag(polynomial(Z, Z))) for Z in (A, B)]
    return polynomial(A, B) / np.outer(*norms)


@pytest.mark.parametrize(
    ("kernel", "reference", "vc_dimension"),
    # polynomials of 6 columns of degree at most 2, of degree 2 and a constant, and the latter of 7 columns
    [("poly", polynomial, 28), ("homogeneous", homogeneous, 22), ("normalized_poly", normalized, 29)],
)
def test_leaf_svms_are_those_of_libsvm(problem, kernel, reference, vc_dimension):
    """Depth 0, one degree: the forest is one polynomial SVM on standardised features."""
    X, y = problem
    forest = Forest.exact(
        n_estimators=3, max_depth=0, degrees=2, C=2.0, study={"tol": 1e-6, "kernel": kernel}, random_state=0
    ).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    svm = SVC(kernel=reference, C=2.0, tol=1e-6).fit(Z, y)
    assert np.mean(forest.predict(X) == svm.predict(Z)) > 0.99
    assert forest.ledger(0)["correct"].sum() == pytest.approx((svm.predict(Z) == y).sum(), abs=1)
    assert forest.ledger(0)["vc_dimension"].tolist() == [vc_dimension]
    closed = {c.text: c.holds for e in forest.__certificate_evidence__() for c in e.trees[0].conditions()}
    assert closed["leaf classes do not change with the scaling of the features"] is (kernel == "poly")


def test_exact_selection_scores_at_most_the_random_sequences(problem, paper):
    drawn = clone(paper).set_params(selection="random_sequences").fit(*problem)
    assert (paper.criterion_ <= drawn.criterion_ + 1e-12).all()
    # The trees are the same: only degrees differ.
    assert paper.ledger()["path"].tolist() == drawn.ledger()["path"].tolist()


def test_forests_without_the_criterion(problem, paper):
    common = clone(paper).set_params(selection="common_degree", degrees=(1, 2, 3), C="auto").fit(*problem)
    assert len(set(common.degrees_histogram_) - {0}) == 1
    mixed = clone(paper).set_params(selection="random_degree").fit(*problem)
    assert len(mixed.degrees_histogram_) > 4


def test_constant_leaves_are_offered_where_asked(problem, paper):
    without = paper.degrees_histogram_.get(0, 0)
    offered = (
        clone(paper)
        .set_params(study={"max_leaf_size": None, "constant_leaves": True}, gamma_scale=1e-3)
        .fit(*problem)
    )
    assert offered.degrees_histogram_.get(0, 0) > without
    assert (
        offered.criterion_
        <= clone(offered).set_params(study={"max_leaf_size": None}).fit(*problem).criterion_
    ).all()


@pytest.mark.parametrize("leaf_scores", ["one_hot", "ovo_votes", "calibrated"])
@pytest.mark.parametrize("bags", [{}, {"max_samples": 0.7}, {"bootstrap": True}])
def test_probabilities_sum_to_one_and_agree_with_predictions(problem, leaf_scores, bags):
    X, y = problem
    forest = quick(selection="exact", max_depth=2, C=1.0, study={"leaf_scores": leaf_scores, **bags})
    forest.set_params(n_estimators=10).fit(X, y)
    proba = forest.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(forest.classes_[proba.argmax(axis=1)], forest.predict(X))
    assert forest.model_.calibrator is not None
    raw = clone(forest).set_params(calibrate=False).fit(X, y)
    assert np.array_equal(raw.predict(X), forest.predict(X))


def test_any_number_of_threads_gives_the_same_forest(problem):
    X, y = problem
    one = Forest(n_estimators=12, degrees=(1, 2), random_state=3, n_jobs=1).fit(X, y)
    two = Forest(n_estimators=12, degrees=(1, 2), random_state=3, n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    pd.testing.assert_frame_equal(one.ledger(), two.ledger())


def test_inner_products_formed_leaf_by_leaf_change_nothing(problem):
    X, y = problem
    stored = Forest(n_estimators=6, degrees=2, random_state=3).fit(X, y)
    formed = Forest(n_estimators=6, degrees=2, random_state=3, max_memory=1).fit(X, y)
    assert np.array_equal(stored.predict_proba(X), formed.predict_proba(X))


def test_large_leaves_go_deeper(problem):
    forest = Forest(
        n_estimators=4, selection="exact", max_depth=1, C=1.0, random_state=0, study={"max_leaf_size": 40}
    )
    ledger = forest.fit(*problem).ledger()
    assert ledger.loc[ledger["degree"] > 0, "points"].max() <= 40
    assert ledger["depth"].max() > 1


def test_given_values_bind_the_pilot(problem):
    forest = Forest(n_estimators=9, max_depth=2, degrees=(2,), C=0.5, plain_weight=0.0, random_state=0)
    forest.fit(*problem)
    assert {s.max_depth for s in forest.settings_} == {2}
    assert {s.degrees for s in forest.settings_} == {(2,)}
    assert {s.C for s in forest.settings_} == {(0.5,)}
    assert forest.plain_weight_ == 0.0


def test_tables_as_they_come(table_with_everything):
    frame, y = table_with_everything
    forest = Forest(n_estimators=20, random_state=0).fit(frame, y)
    assert forest.score(frame, y) > 0.85
    assert any("job" in path for path in forest.ledger()["path"])
    later = frame.iloc[:5].copy()
    later["job"] = ["astronaut", None, "cook", "clerk", "pilot"]
    assert forest.predict_proba(later).shape == (5, 2)
    assert {t["vote"] for t in forest.explain(frame.iloc[[0]])[0]["trees"]} <= {"yes", "no"}


def test_weights_count_like_repeated_rows(problem):
    X, y = problem
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    twice = Forest(n_estimators=8, degrees=2, random_state=0).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    weighted = Forest(n_estimators=8, degrees=2, random_state=0).fit(X, y, sample_weight=weight)
    assert np.array_equal(twice.predict_proba(X), weighted.predict_proba(X))
    assert weighted.ledger(0)["points"].sum() < weight.sum()  # a bag, in weights
    whole = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y, sample_weight=weight)
    assert whole.ledger()["points"].sum() == weight.sum()


def test_verbose_names_the_stages(problem, capsys):
    Forest(n_estimators=4, selection="exact", max_depth=1, C=1.0, verbose=1, calibrate=False).fit(*problem)
    said = capsys.readouterr().err
    assert "growing trees" in said
    assert "training leaf SVMs" in said


def test_a_failed_fit_leaves_the_estimator_as_it_was(problem):
    X, y = problem
    forest = Forest(n_estimators=4, selection="exact", C=1.0, random_state=0).fit(X, y)
    before = forest.predict_proba(X)
    forest.set_params(gamma_scale=-1.0)
    with pytest.raises(ValueError, match="gamma_scale"):
        forest.fit(X[:50], y[:50])
    assert np.array_equal(forest.predict_proba(X), before)


def test_the_default_classifies_iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    forest = Forest(n_estimators=30, random_state=0).fit(X[order[:100]], y[order[:100]])
    assert forest.score(X[order[100:]], y[order[100:]]) > 0.9


def test_an_interrupt_in_a_subprocess_ends_the_fit():
    """Ctrl-C reaches the fit while SVMs are trained, and nothing half-fitted stays behind."""
    script = """
import _thread, threading
import numpy as np
from surewood import RandomCompositeForestClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 10)), rng.integers(0, 3, 4000)
forest = RandomCompositeForestClassifier.exact(n_estimators=500, max_depth=1, C=100.0)
threading.Timer(1.0, _thread.interrupt_main).start()
try:
    while True:
        forest.fit(X, y)
        del forest.model_
except KeyboardInterrupt:
    print("interrupted", hasattr(forest, "model_"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "interrupted False", done.stderr


def test_one_class_is_predicted():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for model in (quick(), CompositeTreeClassifier(), RandomCompositeForestClassifierCV(n_estimators=3)):
        model.fit(X, ["only"] * 30)
        assert model.predict(X[:2]).tolist() == ["only", "only"]
        assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_classes_with_one_example_are_kept():
    X, y = sample(120)
    y = y.copy()
    y[0], y[1] = 7, 8
    for model in (quick(), quick(selection="exact", max_depth=2, C=1.0)):
        model.fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2, 7, 8]
        assert model.predict_proba(X).shape == (120, 5)


def test_more_features_than_rows():
    X, y = sample(60, n_features=200)
    assert quick().fit(X, y).predict(X).shape == (60,)


def test_constant_columns():
    X, y = sample(100)
    constant = np.ones((100, 2))
    with_them = quick(max_features=None).fit(np.column_stack([X, constant]), y)
    assert with_them.score(np.column_stack([X, constant]), y) > 0.5
    nothing_else = quick().fit(constant, y)
    assert len(set(nothing_else.predict(constant))) == 1


def test_huge_and_tiny_values_do_not_disturb():
    X, y = sample(80)
    X = X * np.array([1e150, 1e-150, 1.0, 1e300, 1.0, 1.0])
    assert quick().fit(X, y).predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_two_rows_are_enough():
    model = quick().fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_a_time_limit_ends_a_fit_and_the_model_says_what_was_left_out():
    X, y = sample(300)
    forest = Forest(n_estimators=40, time_limit=0.0, random_state=0).fit(X, y)
    assert forest.model_.n_trees < 40
    assert forest.model_.part_of_tree.shape == (forest.model_.n_trees,)
    assert [note.rsplit(": ", 1)[1] for note in forest.model_.notes] == ["time_limit"] * 3
    assert forest.predict_proba(X).shape == (300, len(forest.classes_))
    assert forest.tree_predictions(X).shape[1] == forest.model_.n_trees


def test_a_generous_time_limit_changes_nothing_but_the_order_of_trees():
    X, y = sample(300)
    free = Forest(n_estimators=12, random_state=0).fit(X, y)
    limited = Forest(n_estimators=12, time_limit=1e6, random_state=0).fit(X, y)
    assert limited.model_.notes == free.model_.notes == ()
    np.testing.assert_allclose(limited.predict_proba(X), free.predict_proba(X))


def test_copies_count_for_the_choice_as_the_trees_that_saw_them_vote():
    """Labels are noise, but half of the rows come twice: trees that remember are right about those."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    copies = np.r_[np.arange(300), np.arange(150)]
    forest = Forest(n_estimators=20, random_state=0).fit(X[copies], y[copies])
    assert forest.held_out_error_ > 0.4  # about new contents
    seen = forest.predict_proba(X[:150])[np.arange(150), y[:150]]
    alone = Forest(n_estimators=20, random_state=0).fit(X, y)
    unaware = alone.predict_proba(X[:150])[np.arange(150), y[:150]]
    assert seen.mean() > unaware.mean() + 0.1


def test_the_whole_theorem_selects_degrees_and_C_may_be_chosen_leaf_by_leaf(problem):
    """Against one forest per C: the criterion of a tree is a sum over leaves, so the minimum is leafwise."""
    how = {"n_estimators": 3, "max_depth": 2, "degrees": (1, 2, 3), "gamma_scale": 1e-3, "random_state": 0}
    by_leaf = Forest.exact(**how, C=[0.1, 10.0], study={"C_per_leaf": True}).fit(*problem)
    each = [Forest.exact(**how, C=C).fit(*problem) for C in (0.1, 10.0)]
    assert (by_leaf.criterion_ <= np.min([forest.criterion_ for forest in each], axis=0) + 1e-12).all()
    whole = Forest.exact(**how, C=1.0, selection="theorem").fit(*problem)
    exact = Forest.exact(**how, C=1.0).fit(*problem)
    assert (exact.criterion_ <= whole.criterion_ + 1e-12).all()
    with pytest.raises(ValueError, match="needs the criterion"):
        Forest(study={"C_per_leaf": True}).fit(*problem)
