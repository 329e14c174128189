"""The forest estimator: its algorithm, its options, its books."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from surewood import CompositeTreeClassifier, RandomCompositeForestClassifierCV
from surewood import RandomCompositeForestClassifier as Forest
from surewood.bounds import ForestEvidence, TreeEvidence, VoteEvidence
from tests.composite.composite_samples import sample


@pytest.fixture(scope="module")
def problem():
    return sample(150, seed=2)


@pytest.fixture(scope="module")
def fitted(problem):
    return Forest(n_estimators=24, degrees=(1, 2), random_state=0).fit(*problem)


@pytest.fixture(scope="module")
def paper(problem):
    return Forest.paper(n_estimators=15, max_depth=3, C=1.0, random_state=0).fit(*problem)


def test_leaf_machines_are_those_of_libsvm(problem):
    """Depth 0, one degree: the forest is one polynomial SVM on standardised features."""
    X, y = problem
    forest = Forest.paper(n_estimators=3, max_depth=0, degrees=2, C=2.0, tol=1e-6, random_state=0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    svm = SVC(kernel="poly", degree=2, gamma=1 / X.shape[1], coef0=1.0, C=2.0, tol=1e-6).fit(Z, y)
    assert np.mean(forest.predict(X) == svm.predict(Z)) > 0.99
    assert forest.ledger(0)["correct"].sum() == pytest.approx((svm.predict(Z) == y).sum(), abs=1)


def test_trees_count_what_they_predict(problem, paper):
    """m+ of the ledger equals the training points that each tree gets right."""
    X, y = problem
    right = (paper.tree_predictions(X) == y[:, None]).sum(axis=0)
    assert right.tolist() == [paper.ledger(t)["correct"].sum() for t in range(15)]


def test_ledger_sums_to_the_sample(problem, paper):
    ledger = paper.ledger()
    assert (ledger.groupby("tree")["points"].sum() == len(problem[1])).all()
    assert (ledger["correct"] + ledger["errors"] == ledger["points"]).all()
    assert (ledger.groupby("tree").size().sum()) == len(ledger)
    assert set(ledger["side"]) <= {"complexity", "sample"}


def test_criterion_is_the_ledgers(paper):
    for tree in (0, 7):
        ledger = paper.ledger(tree)
        m = ledger["points"].sum()
        assert paper.criterion_[tree] == pytest.approx(ledger["errors"].sum() / m + ledger["term"].sum())
    active = (paper.ledger()["side"] == "complexity").mean()
    assert paper.active_leaves_ == pytest.approx(active)


def test_an_inert_gamma_leaves_the_choice_to_the_tie_rule(problem):
    forest = Forest.paper(n_estimators=5, max_depth=3, gamma_scale=1.0, C=1.0, random_state=0).fit(*problem)
    assert set(forest.degrees_histogram_) <= {0, 1}
    assert forest.criterion_ == pytest.approx(1.0, abs=1e-12)


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
    offered = clone(paper).set_params(constant_leaves=True, gamma_scale=1e-3).fit(*problem)
    assert offered.degrees_histogram_.get(0, 0) > without
    assert (
        offered.criterion_ <= clone(offered).set_params(constant_leaves=False).fit(*problem).criterion_
    ).all()


@pytest.mark.parametrize("leaf_scores", ["one_hot", "ovo_votes", "calibrated"])
@pytest.mark.parametrize("bags", [{}, {"max_samples": 0.7}, {"bootstrap": True}])
def test_probabilities_sum_to_one_and_agree_with_predictions(problem, leaf_scores, bags):
    X, y = problem
    forest = Forest(
        n_estimators=10,
        selection="exact",
        max_depth=2,
        C=1.0,
        leaf_scores=leaf_scores,
        random_state=0,
        **bags,
    ).fit(X, y)
    proba = forest.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(forest.classes_[proba.argmax(axis=1)], forest.predict(X))
    assert forest.calibrator_ is not None
    raw = clone(forest).set_params(calibrate=False).fit(X, y)
    assert np.array_equal(raw.predict(X), forest.predict(X))


def test_vote_fractions_are_the_trees_votes(problem, paper):
    X, _ = problem
    votes = paper.tree_predictions(X)
    shares = np.stack([(votes == c).mean(axis=1) for c in paper.classes_], axis=1)
    assert np.array_equal(paper.predict_proba(X), shares)


def test_any_number_of_threads_gives_the_same_forest(problem):
    X, y = problem
    one = Forest(n_estimators=12, degrees=(1, 2), random_state=3, n_jobs=1).fit(X, y)
    two = Forest(n_estimators=12, degrees=(1, 2), random_state=3, n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    pd.testing.assert_frame_equal(one.ledger(), two.ledger())


def test_inner_products_formed_leaf_by_leaf_change_nothing(problem, monkeypatch):
    X, y = problem
    stored = Forest(n_estimators=6, degrees=2, random_state=3).fit(X, y)
    monkeypatch.setattr("surewood.composite.estimator.gram_limit", lambda _: 0)
    formed = Forest(n_estimators=6, degrees=2, random_state=3).fit(X, y)
    assert np.array_equal(stored.predict_proba(X), formed.predict_proba(X))


def test_large_leaves_go_deeper(problem):
    forest = Forest(n_estimators=4, selection="exact", max_depth=1, C=1.0, max_leaf_size=40, random_state=0)
    ledger = forest.fit(*problem).ledger()
    assert ledger.loc[ledger["degree"] > 0, "points"].max() <= 40
    assert ledger["depth"].max() > 1


def test_auto_settles_by_out_of_bag_votes(fitted):
    assert 1 <= len(fitted.settings_) <= 3
    assert all(s.sampling == "subsample" for s in fitted.settings_)
    assert 0 <= fitted.plain_share_ <= 0.9
    assert 0 < fitted.held_out_error_ < 0.6
    assert fitted.model_.n_trees == 24
    held = next(e for e in fitted.__certificate_evidence__() if e.__class__.__name__ == "EstimateEvidence")
    assert held.used_for_selection
    assert held.name == "out-of-bag error"


def test_given_values_bind_the_pilot(problem):
    forest = Forest(n_estimators=9, max_depth=2, degrees=(2,), C=0.5, plain_share=0.0, random_state=0)
    forest.fit(*problem)
    assert {s.max_depth for s in forest.settings_} == {2}
    assert {s.degrees for s in forest.settings_} == {(2,)}
    assert {s.C for s in forest.settings_} == {(0.5,)}
    assert forest.plain_share_ == 0.0


def test_plain_trees_have_their_share_of_the_vote(problem):
    X, y = problem
    forest = Forest(
        n_estimators=5,
        selection="exact",
        max_depth=1,
        C=1.0,
        plain_share=0.4,
        n_plain_trees=7,
        calibrate=False,
        random_state=0,
    ).fit(X, y)
    assert forest.model_.plain.n_trees == 7
    composite = np.stack([(forest.tree_predictions(X) == c).mean(axis=1) for c in forest.classes_], axis=1)
    plain = forest.model_.plain.predict_proba(forest.reader_.matrix(forest.schema_.read(X)))
    assert forest.predict_proba(X) == pytest.approx(0.6 * composite + 0.4 * plain)


def test_apply_and_decision_path_agree_with_the_ledger(problem, paper):
    X, _ = problem
    leaves = paper.apply(X)
    sizes = paper.ledger().set_index(["tree", "leaf"])["points"]
    for tree in (0, 5):
        counts = np.bincount(leaves[:, tree], minlength=len(sizes[tree]))
        assert counts.tolist() == sizes[tree].tolist()
    indicator, start = paper.decision_path(X)
    depth = paper.ledger(0).set_index("leaf")["depth"]
    passed = np.asarray(indicator[:, start[0] : start[1]].sum(axis=1)).ravel()
    assert (passed == depth.to_numpy()[leaves[:, 0]] + 1).all()


def test_explain_tells_path_leaf_degree_and_vote(problem, paper):
    X, _ = problem
    told = paper.explain(X[3:5])[0]
    assert [tree["vote"] for tree in told["trees"]] == paper.tree_predictions(X[3:4])[0].tolist()
    assert [tree["leaf"] for tree in told["trees"]] == paper.apply(X[3:4])[0].tolist()
    degrees = paper.ledger(tree=0)["degree"]
    assert told["trees"][0]["degree"] == degrees[told["trees"][0]["leaf"]]
    assert told["trees"][0]["path"][0]["feature"].startswith("x")
    assert sum(told["votes"].values()) == pytest.approx(1.0)


def test_importances_are_those_of_the_questions(problem, fitted):
    X, y = problem
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    X = np.column_stack([X, np.zeros(len(X))])
    forest = Forest(n_estimators=5, degrees=2, random_state=0).fit(X, y)
    assert forest.feature_importances_[-1] == 0.0


def test_evidence_of_trees_on_the_whole_sample(problem, paper):
    evidence = list(paper.__certificate_evidence__())
    assert isinstance(evidence[0], ForestEvidence)
    tree = evidence[0].trees[0]
    assert tree.n_samples == len(problem[1])
    assert all(c.holds for c in evidence[0].conditions())
    single = CompositeTreeClassifier(max_depth=2, C=1.0, random_state=0).fit(*problem)
    assert isinstance(next(iter(single.__certificate_evidence__())), TreeEvidence)


def test_evidence_of_bags_says_that_scaling_saw_all_rows(problem):
    forest = Forest(n_estimators=8, selection="exact", max_depth=1, C=1.0, max_samples=0.5, random_state=0)
    votes = next(e for e in forest.fit(*problem).__certificate_evidence__() if isinstance(e, VoteEvidence))
    said = {c.text: c.holds for c in votes.conditions()}
    assert said["members were determined by their in-bag points"] is False
    assert said["the model predicts by hard vote"] is True
    assert votes.out_of_bag.sizes.min() >= 1


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


def test_cost_is_told_beforehand(problem):
    X, y = problem
    cost = Forest().estimate_cost(X, y)
    assert cost.memory_bytes > X.nbytes
    assert 0 < cost.seconds[0] < cost.seconds[1]
    assert cost.parts["inner products"] == 4 * len(X) ** 2
    formed = Forest(max_memory=10_000).estimate_cost(X, y)
    assert formed.parts["inner products"] == 0
    assert "formed as they are needed" in str(formed)
    with pytest.raises(ValueError, match=r"a fit needs about \d+ MiB, more than max_memory=1 MiB; use fewer"):
        Forest(max_memory=10_000).fit(X, y)
    single = CompositeTreeClassifier(max_depth=2, C=1.0).estimate_cost(X, y)
    grid = RandomCompositeForestClassifierCV.paper().estimate_cost(X, y)
    assert single.seconds[1] < cost.seconds[1] < grid.seconds[1]


def test_verbose_names_the_stages(problem, capsys):
    Forest(n_estimators=4, selection="exact", max_depth=1, C=1.0, verbose=1, calibrate=False).fit(*problem)
    said = capsys.readouterr().err
    assert "growing trees" in said
    assert "training leaf machines" in said


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
    """Ctrl-C reaches the fit while machines are trained, and nothing half-fitted stays behind."""
    script = """
import _thread, threading
import subprocess
import sys

import numpy as np
from surewood import RandomCompositeForestClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 10)), rng.integers(0, 3, 4000)
forest = RandomCompositeForestClassifier.paper(n_estimators=500, max_depth=1, C=100.0)
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
