"""SVMs of a cascade's nodes against libsvm's, and the choice of C."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from surewood.bounds import leaf_log_growth
from surewood.cascade import svm_trainer
from surewood.cascade.chain import as_fractions
from surewood.cascade.plan import deal_folds
from surewood.cascade.search import PrefixTree, minimise
from surewood.cascade.svm_trainer import KernelChoice, SvmTrainer, penalty_errors
from surewood.svm.dual import solve_many
from surewood.svm.gram import Gram
from tests.cascade.reference import all_scores, first_minimiser


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 3))
    codes = (X[:, 0] + X[:, 1] ** 2 + 0.8 * rng.normal(size=70) > 0.7).astype(np.int32)
    return X, codes


def trainer_of(X, codes, degrees=(1, 2), C=(1.0, 1.0)):
    kernels, rows = KernelChoice("poly", degrees, X.shape[1]), np.arange(len(codes), dtype=np.int32)
    return SvmTrainer(Gram(X), codes, np.ones(len(codes)), rows, 2, kernels, np.array(C))


@pytest.fixture
def exactly(monkeypatch):
    """SVMs solved to a smaller tolerance."""
    monkeypatch.setattr(svm_trainer, "solve_many", partial(solve_many, tol=1e-6))


def test_machines_are_those_of_a_peer_with_the_scaled_penalty(noisy, exactly):
    X, codes = noisy
    trainer = trainer_of(X, codes, C=(0.5, 2.0))
    rows = np.flatnonzero(X[:, 2] > 0).astype(np.int32)
    outcomes = trainer.train([rows], [0, 1])[0]
    for outcome, degree, C in zip(outcomes, (1, 2), (0.5, 2.0)):
        scaled = C * np.sqrt(len(rows) / len(codes))  # theory.md §3.6
        peer = SVC(kernel="poly", degree=degree, gamma=1 / 3, coef0=1.0, C=scaled, tol=1e-6)
        decision = peer.fit(X[rows], codes[rows]).decision_function(X[rows])
        np.testing.assert_allclose(outcome.distance, np.abs(decision), atol=2e-4)
        np.testing.assert_array_equal(outcome.correct, (decision > 0) == (codes[rows] == 1))


def test_one_class_is_a_constant_that_orders_nothing(noisy):
    X, codes = noisy
    trainer = trainer_of(X, codes)
    mixed, pure = np.arange(20, dtype=np.int32), np.flatnonzero(codes == 1)[:5].astype(np.int32)
    outcomes = trainer.train([pure, mixed, pure], [0, 1])
    assert outcomes[0][0].distance is None
    assert outcomes[0][1].correct.all()
    assert outcomes[1][0].distance is not None
    assert outcomes[2][1].distance is None


def test_search_over_machines_is_exhaustive_search(noisy):
    X, codes = noisy
    shares, gammas = as_fractions([0.3, 0.6]), (1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 0.0)
    trainer = trainer_of(X, codes)
    complexity = trainer.kernels.complexity(len(codes))
    scores = all_scores(trainer, complexity, gammas, shares, 3)
    tree = PrefixTree(trainer, shares, 3)
    for k, gamma in enumerate(gammas):
        best, score = first_minimiser(scores, k)
        found = minimise(tree, complexity, gamma)
        assert (found.path.choices, found.path.fractions) == best
        assert found.score == pytest.approx(score, abs=1e-9)


def test_the_built_cascade_has_the_counts_of_the_search(noisy):
    X, codes = noisy
    shares = as_fractions([0.3, 0.6])
    trainer = trainer_of(X, codes)
    tree = PrefixTree(trainer, shares, 3)
    complexity = trainer.kernels.complexity(len(codes))
    for leaves in (1, 2, 3):
        found = minimise(tree, complexity, 0.01, n_leaves=leaves)
        cascade = trainer.build(found.path, tree.fractions)
        np.testing.assert_array_equal(cascade.plus, found.plus)
        np.testing.assert_array_equal(cascade.minus, found.minus)
        evaluated = cascade.evaluate(X)  # training rows take the way they took in training
        right = (evaluated.scores > 0) == (codes == 1)
        for k in range(leaves):
            assert right[evaluated.leaf == k].sum() == found.plus[k]
            assert (~right)[evaluated.leaf == k].sum() == found.minus[k]


def test_complexity_of_each_kernel():
    poly = KernelChoice("poly", (1, 2), 12)
    np.testing.assert_allclose(poly.log_growth(500), leaf_log_growth([1, 2], 12, 500))
    np.testing.assert_allclose(poly.log_growth(500), [60.445564, 246.041122], rtol=1e-6)  # theory.md §9, 7
    hom = KernelChoice("homogeneous", (2,), 12)
    np.testing.assert_allclose(hom.log_growth(500), leaf_log_growth([2], 12, 500, homogeneous=True))
    assert hom.spec(0).coef0 == 0.0
    rbf = KernelChoice("rbf", (1, 3), 4)
    np.testing.assert_allclose(rbf.log_growth(100), 100 * np.log(2))
    assert rbf.spec(1).gamma == 4 * rbf.spec(0).gamma
    assert (poly.log_growth(500, "sum") <= poly.log_growth(500)).all()


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_errors_are_those_of_a_peer(kernel, exactly):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    codes = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(np.int32)
    folds, grid = deal_folds(SimpleNamespace(codes=codes, groups=None), 4, 0), np.array([0.1, 10.0])
    kernels = KernelChoice(kernel, (1, 2), 2)
    ours = penalty_errors(Gram(X), codes, np.ones(80), kernels, grid, folds)
    for i, degree in enumerate((1, 2)):
        for k, C in enumerate(grid):
            peer = (
                SVC(kernel="poly", degree=degree, gamma=0.5, coef0=1.0, C=C, tol=1e-6)
                if kernel == "poly"
                else SVC(kernel="rbf", gamma=2.0 ** (degree - 1) / 2, C=C, tol=1e-6)
            )
            wrong = sum((peer.fit(X[a], codes[a]).predict(X[b]) != codes[b]).sum() for a, b in folds)
            assert ours[i, k] == wrong
