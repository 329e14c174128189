"""The tree, the forest and the search: what they share, their algorithm, their options, data as it comes."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from surewood import RandomCompositeForestClassifier as Forest
from tests.composite.composite_samples import sample


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


@pytest.mark.parametrize("leaf_scores", ["one_hot", "ovo_votes"])
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


def test_C_of_every_leaf_has_the_minimum_over_all_sequences(problem):
    """Of degrees and C: the terms of every leaf are those of a forest that has one degree and one C."""
    how = {"n_estimators": 3, "max_depth": 2, "gamma_scale": 1e-3, "random_state": 0}
    by_leaf = Forest.exact(**how, degrees=(1, 2), C=[0.1, 10.0], study={"C_per_leaf": True}).fit(*problem)
    each = [Forest.exact(**how, degrees=d, C=C).fit(*problem) for d in (1, 2) for C in (0.1, 10.0)]
    for tree in range(3):
        ledgers = [forest.ledger(tree) for forest in each]
        terms = np.array([own["errors"] / own["points"].sum() + own["term"] for own in ledgers])
        scores = [terms[list(k), range(len(k))].sum() for k in product(range(4), repeat=terms.shape[1])]
        assert by_leaf.criterion_[tree] == pytest.approx(min(scores))
    with pytest.raises(ValueError, match="needs the criterion"):
        Forest(study={"C_per_leaf": True}).fit(*problem)


def test_the_whole_theorem_may_select_degrees(problem):
    how = {"n_estimators": 3, "max_depth": 2, "degrees": (1, 2, 3), "gamma_scale": 1e-3, "C": 1.0}
    whole = Forest.exact(**how, selection="theorem", random_state=0).fit(*problem)
    exact = Forest.exact(**how, random_state=0).fit(*problem)
    assert (exact.criterion_ <= whole.criterion_ + 1e-12).all()
