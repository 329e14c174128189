"""Cascades of any families: the exact search, the fitted chain, the estimator."""

import copy
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import surewood
from surewood import DeepCascadeClassifier
from surewood.cascade import (
    ConstantFamily,
    EstimatorFamily,
    KernelFamily,
    LinearFamily,
    StumpFamily,
    ThresholdFamily,
)
from surewood.cascade.chain import as_fractions
from surewood.cascade.generic_cascade import (
    GenericCascade,
    GenericSearch,
    GenericTree,
    SplitRule,
    build_generic,
    complexity_factor,
)
from surewood.certify import certify
from surewood.families import ConstantMember, StumpMember
from tests.cascade.conftest import small_problem

LEAVES = [ConstantFamily(), StumpFamily(), KernelFamily("poly", 2)]
SPLITS = [ThresholdFamily(0), StumpFamily(), LinearFamily("hinge")]


def exhaustive(X, codes, weight, shares, max_leaves, scale, a, q):
    """All loops of theory.md §3.5, first of the best in the order of the loops."""
    best, best_score = None, len(codes) + 1.0
    members = {}

    def fitted(family, rows):
        key = (id(family), rows.tobytes())
        if key not in members:
            own = ConstantFamily() if len(np.unique(codes[rows])) == 1 else family
            members[key] = own.fit(X[rows], codes[rows], weight[rows], 2)
        return members[key]

    for n in range(1, max_leaves + 1):
        for f in range(len(shares) if n > 1 else 1):
            for H in itertools.product(range(len(LEAVES)), repeat=n):
                for Q in itertools.product(range(len(SPLITS)), repeat=n - 1):
                    rows, score, paid = np.arange(len(codes)), 0.0, 0.0
                    for k in range(n):
                        stay = rows
                        if k < n - 1:
                            member = fitted(SPLITS[Q[k]], rows)
                            if len(np.unique(codes[rows])) == 1:
                                score = None
                                break
                            value = member.order(X[rows])
                            wanted = math.floor(shares[f] * len(rows) + type(shares[f])(1, 2))
                            go_on = (
                                value <= np.sort(value)[wanted - 1] if wanted else np.zeros(len(rows), bool)
                            )
                            if go_on.all() or not go_on.any():
                                score = None
                                break
                            stay, rows = rows[~go_on], rows[go_on]
                            paid += q[Q[k]]
                        predicted = fitted(LEAVES[H[k]], stay).scores(X[stay]).argmax(axis=1)
                        plus = (predicted == codes[stay]).sum()
                        score += len(stay) - plus + min(scale * (paid + a[H[k]]), plus)
                    if score is not None and score < best_score - 1e-12 * max(1.0, abs(best_score)):
                        best, best_score = (n, f, H, Q), score
    return best, best_score


@pytest.mark.parametrize("gamma", [1.0, 0.05, 0.01, 1e-3, 0.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_branch_and_bound_is_exhaustive_search(seed, gamma):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2))
    codes = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=24) > 0).astype(np.int32)
    weight, shares = np.ones(24), as_fractions([0.4, 0.7])
    a = np.array([family.rademacher(X, 2) for family in LEAVES])
    q = np.array([family.split_rademacher(X, 2) for family in SPLITS])
    scale = 4 * gamma * 24
    tree = GenericTree(X, codes, weight, 2, LEAVES, SPLITS)
    found = GenericSearch(tree, shares, 3, scale, a, q).run()
    best, score = exhaustive(X, codes, weight, shares, 3, scale, a, q)
    assert tuple(found.path) == best
    assert found.score == pytest.approx(score, abs=1e-9)
    assert found.plus.sum() + found.minus.sum() == 24
    assert found.n_cascades == 3 + 2 * 9 * 3 + 2 * 27 * 9


def test_rows_go_on_up_to_the_threshold():
    rule = SplitRule(StumpMember(0, 0.0, 0, 1, 2, by_value=True), 1.5)
    leaves = (ConstantMember(np.array([1.0, 0.0])), ConstantMember(np.array([0.0, 1.0])))
    scores, leaf = GenericCascade((rule,), leaves, 2).evaluate(np.array([[1.0], [1.5], [2.0]]))
    assert leaf.tolist() == [1, 1, 0]
    assert scores.argmax(axis=1).tolist() == [1, 1, 0]


def test_the_factor_of_the_complexity():
    assert complexity_factor(2) == 4.0
    assert complexity_factor(3) == 24.0


def test_a_chain_ends_early_where_no_split_divides_the_points():
    _, sample = small_problem(np.repeat([[0.0], [1.0]], 5, axis=0), [0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    built = build_generic(
        sample, [ConstantFamily(), StumpFamily()], [LinearFamily("hinge")], Fraction(1, 100), np.arange(2)
    )
    assert len(built.leaves) == len(built.splits) + 1


def test_a_chain_has_the_chosen_families():
    _, sample = small_problem()
    built = build_generic(
        sample, [StumpFamily(), StumpFamily()], [LinearFamily("hinge")], Fraction(1, 2), np.arange(90)
    )
    assert len(built.splits) == 1
    leaf = built.evaluate(sample.design)[1]
    assert 40 <= (leaf == 1).sum() <= 50


def test_leaves_hold_the_points_of_the_search(generic_model, moons):
    model, X, y = generic_model, moons[0][:150], moons[1][:150]
    found = model.search_
    assert found.path.n_leaves > 1
    leaf, right = model.decision_path(X), model.predict(X) == y
    for k in range(found.path.n_leaves):
        assert right[leaf == k].sum() == found.plus[k]
        assert (~right)[leaf == k].sum() == found.minus[k]
    ledger = model.ledger()
    assert len(ledger) == found.path.n_leaves
    terms = np.minimum(ledger["complexity_term"], ledger["sample_term"]).sum()
    assert found.score / 150 == pytest.approx(found.minus.sum() / 150 + terms)


def test_a_large_scale_gives_the_first_family(iris):
    model = DeepCascadeClassifier(gamma_scale=10.0).fit(*iris)
    assert isinstance(model.leaf_families_[0], ConstantFamily)
    assert model.split_families_ == ()


def test_families_as_objects_and_names(moons):
    wrapped = EstimatorFamily(LogisticRegression(), complexity=0.1)
    model = DeepCascadeClassifier(leaves=["stump", wrapped], splits=[wrapped], gamma_scale=1e-3)
    model = clone(model).fit(*moons)
    assert model.score(*moons) > 0.8
    assert model.decision_function(moons[0]).shape == (240,)
    no_splits = DeepCascadeClassifier(leaves=StumpFamily(), splits=[]).fit(*moons)
    assert no_splits.search_.path.n_leaves == 1


def test_several_classes(iris):
    X, y = iris
    model = DeepCascadeClassifier(gamma_scale=1e-4, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert model.decision_function(X).shape == (150, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"splits": ["constant"]}, "ConstantFamily cannot order points, so it cannot split"),
        ({"leaves": []}, "leaves is empty"),
        ({"leaves": [LogisticRegression()]}, "Wrap a scikit-learn classifier as EstimatorFamily"),
        ({"leaves": ["forest"]}, "leaves must hold families, or names among constant, threshold"),
    ],
)
def test_bad_settings_are_named(moons, changes, message):
    with pytest.raises(ValueError, match=message):
        DeepCascadeClassifier(**changes).fit(*moons)


def test_a_ledger_keeps_the_gamma_of_the_fit(generic_model):
    changed = copy.deepcopy(generic_model).set_params(gamma_scale=1.0)
    pd.testing.assert_frame_equal(changed.ledger(), generic_model.ledger())
    assert changed.gamma_scale_ == 1e-4


def test_evidence_is_an_estimate_only(generic_model, moons):
    model = generic_model
    (estimate,) = model.__certificate_evidence__()
    assert 0 < estimate.value < 0.5
    assert "ESTIMATE" in str(certify(model, *moons, sample="training"))


@pytest.mark.parametrize("name", ["stump", "tree", "logistic", "linear_svm", "quadratic", "rbf"])
def test_models_are_saved_and_loaded(moons, tmp_path, name):
    model = DeepCascadeClassifier(leaves=[name], splits=[name], gamma_scale=1e-4, random_state=0).fit(*moons)
    again = surewood.load(surewood.save(model, tmp_path / "model.surewood"))
    np.testing.assert_array_equal(again.predict_proba(moons[0]), model.predict_proba(moons[0]))
