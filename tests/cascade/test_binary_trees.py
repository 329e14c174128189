"""Binary trees of nodes: the recursion against all trees, predictions, files, mistakes."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import surewood
from surewood import DeepCascadeClassifier
from surewood.cascade import (
    BinaryTreeFamily,
    ConstantFamily,
    EstimatorFamily,
    GaussianFamily,
    KernelFamily,
    LinearFamily,
    StumpFamily,
    ThresholdFamily,
)
from surewood.cascade.binary_trees import _Search
from surewood.cascade.generic_cascade import GenericTree

LEAVES = [ConstantFamily(), KernelFamily("poly", 2, C=0.1), KernelFamily("poly", 2, C=10.0), GaussianFamily()]
SPLITS = [ThresholdFamily(0), LinearFamily("hinge")]
SHARES = (0.25, 0.5)


def every_tree(tree, rows, depth, paid, leaf_cost, split_cost, scale):
    """The criterion of every tree below a node, in counts: all leaf families, splits and fractions."""
    weight, right = len(rows), tree.codes[rows]
    for k, cost in enumerate(leaf_cost):
        correct = int((tree.leaf(rows, k).scores(tree.X[rows]).argmax(axis=1) == right).sum())
        yield weight - correct + min(scale * (paid + cost), correct)
    if depth == 0:
        return
    for k, cost in enumerate(split_cost):
        for share in SHARES:
            divided = tree.divide(rows, k, Fraction(share))
            if divided is None:
                continue
            below = [
                list(every_tree(tree, part, depth - 1, paid + cost, leaf_cost, split_cost, scale))
                for part in divided[1:]
            ]
            yield from (a + b for a in below[0] for b in below[1])


@pytest.mark.parametrize("gamma", [0.0003, 0.003, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_recursion_finds_the_smallest_criterion_of_all_trees(seed, gamma):
    X, codes = make_moons(40, noise=0.3, random_state=seed)
    family = BinaryTreeFamily(LEAVES, SPLITS, max_depth=2, fractions=SHARES, gamma_scale=gamma)
    weight, rows = np.ones(len(codes)), np.arange(len(codes), dtype=np.int32)
    lowest, member = _Search(family, X, codes, weight, 2).best(rows, 0, 0.0)
    costs = [f.rademacher(X, 2) for f in LEAVES], [f.split_rademacher(X, 2) for f in SPLITS]
    tree = GenericTree(X, codes, weight, 2, LEAVES, SPLITS)
    assert lowest == pytest.approx(min(every_tree(tree, rows, 2, 0.0, *costs, 4.0 * gamma * len(codes))))
    errors = (member.scores(X).argmax(axis=1) != codes).sum()
    assert errors <= lowest


def test_growth_counts_the_labelings_of_all_trees():
    """Constants below thresholds of one column: 4 points in a row have 8 labelings."""
    family = BinaryTreeFamily(["constant"], ["threshold"], max_depth=1)
    assert np.exp(family.log_growth(4, 1, 2)) >= 8
    assert BinaryTreeFamily(["constant"], ["threshold"], 2).log_growth(50, 3, 2) > family.log_growth(50, 3, 2)


def test_a_forest_leaf_may_hold_any_classifier_and_is_saved(moons, tmp_path):
    naive = EstimatorFamily(GaussianNB(), complexity=0.2)
    trees = BinaryTreeFamily([naive, "quadratic"], [StumpFamily()], gamma_scale=1e-4)
    model = DeepCascadeClassifier([trees], [], max_leaves=1, gamma_scale=1e-4, random_state=0).fit(*moons)
    assert model.score(*moons) > 0.8
    again = surewood.load(surewood.save(model, tmp_path / "model.surewood"))
    np.testing.assert_array_equal(again.predict_proba(moons[0]), model.predict_proba(moons[0]))


def test_several_classes(iris):
    trees = BinaryTreeFamily(["gaussian", EstimatorFamily(DecisionTreeClassifier(max_depth=1), 0.3)])
    model = DeepCascadeClassifier([trees], [], max_leaves=1, random_state=0).fit(*iris)
    assert model.score(*iris) > 0.9


def test_a_depth_that_no_recursion_ends_is_refused(moons):
    with pytest.raises(ValueError, match="max_depth must be an integer from 0 to 10, got 30"):
        DeepCascadeClassifier([BinaryTreeFamily(max_depth=30)], [], max_leaves=1).fit(*moons)
