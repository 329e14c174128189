import itertools
import math

import numpy as np
import pytest

from surewood.cascade import ConstantFamily, KernelFamily, LinearFamily, StumpFamily, ThresholdFamily
from surewood.cascade.generic_search import GenericSearch, GenericTree
from surewood.cascade.splits import as_fractions

LEAVES = [ConstantFamily(), StumpFamily(), KernelFamily("poly", 2)]
QUESTIONS = [ThresholdFamily(0), StumpFamily(), LinearFamily("hinge")]


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
                for Q in itertools.product(range(len(QUESTIONS)), repeat=n - 1):
                    rows, score, asked = np.arange(len(codes)), 0.0, 0.0
                    for k in range(n):
                        stay = rows
                        if k < n - 1:
                            member = fitted(QUESTIONS[Q[k]], rows)
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
                            asked += q[Q[k]]
                        predicted = fitted(LEAVES[H[k]], stay).scores(X[stay]).argmax(axis=1)
                        plus = (predicted == codes[stay]).sum()
                        score += len(stay) - plus + min(scale * (asked + a[H[k]]), plus)
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
    q = np.array([family.split_rademacher(X, 2) for family in QUESTIONS])
    scale = 4 * gamma * 24
    tree = GenericTree(X, codes, weight, 2, LEAVES, QUESTIONS)
    found = GenericSearch(tree, shares, 3, scale, a, q).run()
    best, score = exhaustive(X, codes, weight, shares, 3, scale, a, q)
    assert tuple(found.path) == best
    assert found.score == pytest.approx(score, abs=1e-9)
    assert found.plus.sum() + found.minus.sum() == 24
    assert found.n_cascades == 3 + 2 * 9 * 3 + 2 * 27 * 9
