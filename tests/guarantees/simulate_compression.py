"""Sample compression: SVMs on Gaussian pairs (normal tails), SVM trees on the unit square (areas)."""

import numpy as np
from sklearn.svm import SVC

from surewood.bounds import clopper_pearson, svm_tree_log_codes
from surewood.bounds.evidence import CompressionEvidence
from surewood.certify import Method, certify
from tests.guarantees.harness import Speaker, collect
from tests.guarantees.simulate_holdout import Linear, gaussian_pair

DELTA = 0.05
PENALTIES = (0.1, 1.0, 10.0)
CONDITIONS = {"reproduces": True, "scaling_fixed": True, "unweighted": True}


def simulate_svm(draws, seed=4, m=60):
    """The penalty is chosen among three on the data, and paid for; the broken twin forgets all choices."""
    rng = np.random.default_rng(seed)
    mean = np.array([1.0, 0.0])
    rows = []
    for _ in range(draws):
        X, y = gaussian_pair(rng, m, mean)
        if np.abs(y.sum()) == m:
            X, y = np.vstack([X[:-1], -X[-1:]]), np.append(y[:-1], -y[-1])
        offers = []
        for penalty in PENALTIES:
            machine = SVC(C=penalty, kernel="linear").fit(X, y)
            others = np.setdiff1d(np.arange(m), machine.support_)
            errors = int(np.count_nonzero(machine.predict(X[others]) != y[others]))
            evidence = CompressionEvidence(
                n_samples=m,
                n_compressed=m - others.size,
                errors=errors,
                n_models=len(PENALTIES),
                **CONDITIONS,
            )
            entry = certify(Speaker(evidence), delta=DELTA).best
            wrong = clopper_pearson(errors, others.size, delta=DELTA) if others.size else 1.0
            offers.append((entry.value, wrong, machine))
        value, wrong, machine = min(offers, key=lambda offer: offer[0])
        risk = Linear(machine.coef_[0], machine.intercept_[0]).risk(mean)
        rows.append([(Method.COMPRESSION, risk, value, wrong)])
    return collect(DELTA, rows)


class HeightLeaf:
    """An SVM that sees the second coordinate only: a threshold with an orientation, or a constant."""

    def __init__(self, heights, y):
        self.support = np.array([0]) if heights.size else np.array([], dtype=int)
        self.constant = y[0] if heights.size else 1
        self.machine = None
        if np.unique(y).size == 2:
            self.machine = SVC(C=10.0, kernel="linear").fit(heights[:, None], y)
            self.support = self.machine.support_

    def predict(self, heights):
        if self.machine is None or heights.size == 0:
            return np.full(heights.size, self.constant)
        return self.machine.predict(heights[:, None])

    def error_against(self, edge):
        """Share of [0, 1] on which the leaf differs from 1[height > edge]."""
        if self.machine is None:
            return edge if self.constant == 1 else 1.0 - edge
        slope, intercept = self.machine.coef_[0, 0], self.machine.intercept_[0]
        cut = float(np.clip(-intercept / slope, 0.0, 1.0))
        return abs(cut - edge) if slope > 0 else 1.0 - abs(cut - edge)


LOW, HIGH, NOISE = 0.3, 0.7, 0.02


def tree_risk(threshold, left, right):
    """Area of disagreement with the step-shaped boundary, plus label noise."""
    pieces = [(0.0, min(threshold, 0.5), left, LOW), (max(threshold, 0.5), 1.0, right, HIGH)]
    between = (threshold, 0.5, right, LOW) if threshold < 0.5 else (0.5, threshold, left, HIGH)
    disagreement = sum(
        (end - start) * leaf.error_against(edge) for start, end, leaf, edge in (*pieces, between)
    )
    return NOISE + (1 - 2 * NOISE) * disagreement


def simulate_svm_tree(draws, seed=5, m=80):
    """One question at the value of a training point, an SVM on each side."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = rng.random((m, 2))
        clean = X[:, 1] > np.where(X[:, 0] > 0.5, HIGH, LOW)
        y = np.where(clean ^ (rng.random(m) < NOISE), 1, -1)
        candidates = rng.choice(m, size=4, replace=False)
        rows.append([best_tree(X, y, candidates)])
    return collect(DELTA, rows)


def best_tree(X, y, candidates):
    """Among a few thresholds the tree with the fewest training errors; its bound counts all thresholds."""
    grown = []
    for point in candidates:
        left = X[:, 0] <= X[point, 0]
        sides = [np.flatnonzero(left), np.flatnonzero(~left)]
        leaves = [HeightLeaf(X[side, 1], y[side]) for side in sides]
        wrong = np.concatenate(
            [side[leaf.predict(X[side, 1]) != y[side]] for side, leaf in zip(sides, leaves)]
        )
        kept = np.unique(
            np.concatenate([side[leaf.support] for side, leaf in zip(sides, leaves)] + [[point]])
        )
        grown.append((wrong.size, point, leaves, np.setdiff1d(wrong, kept).size, kept.size))
    _, point, leaves, errors, d = min(grown, key=lambda tree: tree[0])
    m = y.size
    codes = svm_tree_log_codes(1, 2, 2, 1, n_compressed=d)
    evidence = CompressionEvidence(
        n_samples=m, n_compressed=d, errors=errors, tree=True, log_codes=codes, **CONDITIONS
    )
    value = certify(Speaker(evidence), delta=DELTA).best.value
    risk = tree_risk(X[point, 0], *leaves)
    return Method.TREE_COMPRESSION, risk, value, clopper_pearson(errors, m - d, delta=DELTA)
