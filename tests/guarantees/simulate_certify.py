"""`certify` through its public door on populations with copies, groups, classes and costs; risks are known.

Rows are drawn from finitely many cells, so every risk is a sum over cells. Models are tables from cells to
labels that remember their training rows, as the classifiers of the package do.
"""

import numpy as np

from surewood.bounds import betting_upper_limit, clopper_pearson
from surewood.certify import Claim, Method, certify
from surewood.estimators.remembered import RememberedRows
from tests.guarantees.harness import collect

DELTA = 0.1
GRID = np.array([(0.1 + i, 0.5 + j) for i in range(25) for j in range(25)]) / 7.0


class CellTable:
    """Majority label of the training rows of each cell; 0 in empty ones."""

    classes_ = np.array([0, 1])

    def __init__(self, X, cells, y):
        ones = np.bincount(cells, weights=y, minlength=len(GRID))
        seen = np.bincount(cells, minlength=len(GRID))
        self.labels = (2 * ones > seen).astype(int)
        self.remembered_rows_ = RememberedRows.from_table(X)

    def predict(self, X):
        return self.labels[cell_of(X)]


def cell_of(X):
    return np.rint(X[:, 0] * 7.0 - 0.1).astype(int) * 25 + np.rint(X[:, 1] * 7.0 - 0.5).astype(int)


def draw_cells(rng, n, truth, noise):
    cells = rng.integers(len(GRID), size=n)
    return cells, truth[cells] ^ (rng.random(n) < noise)


def simulate_copies(draws, seed=20, noise=0.3):
    """Rows not seen in training count; the broken twin counts copies of training rows too."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        truth = rng.integers(0, 2, len(GRID))
        cells, y = draw_cells(rng, 300, truth, noise)
        model = CellTable(GRID[cells], cells, y)
        new, labels = draw_cells(rng, 60, truth, noise)
        old = rng.integers(300, size=60)  # training rows given as holdout
        given, said = np.r_[new, cells[old]], np.r_[labels, y[old]]
        entry = certify(model, GRID[given], said, delta=DELTA).best
        unseen = np.setdiff1d(np.arange(len(GRID)), cells)
        wrong = model.labels[unseen] != truth[unseen]
        risk = float(np.where(wrong, 1 - noise, noise).mean())
        errors = int((model.labels[given] != said).sum())
        broken = clopper_pearson(errors, given.size, delta=DELTA)
        rows.append([(Method.HOLDOUT, risk, 1.0 if entry is None else entry.value, broken)])
    return collect(DELTA, rows)


class Threshold:
    """A classifier fixed in advance."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        p = np.where(X[:, 0] > 0, 0.8, 0.2)
        return np.column_stack([1 - p, p])


def simulate_groups(draws, seed=21, size=20, n_groups=40):
    """Rows of one group share their fate; the broken twin counts them as independent."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = rng.normal(size=(n_groups * size, 3))
        group = np.repeat(np.arange(n_groups), size)
        spoiled = (rng.random(n_groups) < 0.2)[group]
        y = (X[:, 0] > 0) ^ spoiled
        entry = certify(Threshold(), X, y.astype(int), groups=group, delta=DELTA).best
        broken = certify(Threshold(), X, y.astype(int), delta=DELTA).best
        rows.append([("groups", 0.2, entry.value, broken.value)])
    return collect(DELTA, rows)


def simulate_claims(draws, seed=22, n=80):
    """Recall, precision, cost and Brier score share delta; the broken twins give the measured values."""
    rng = np.random.default_rng(seed)
    matrix = np.array([[0.0, 1.0], [4.0, 0.0]])
    names = ["recall:1", "precision:1", "brier", Claim("cost", cost=matrix)]
    rows = []
    for _ in range(draws):
        X = rng.normal(size=(n, 3))
        positive = X[:, 0] > 0
        y = np.where(positive, rng.random(n) < 0.9, rng.random(n) < 0.05).astype(int)
        entries = certify(Threshold(), X, y, claims=names, delta=DELTA).guarantees
        recall, precision, brier, cost = (entry.value for entry in entries)
        seen = [entry.decomposition["observed"] for entry in entries]
        true_brier = 0.5 * (0.9 * 0.08 + 0.1 * 1.28) + 0.5 * (0.95 * 0.08 + 0.05 * 1.28)
        true_cost = 0.5 * 0.1 * 1.0 + 0.5 * 0.05 * 4.0
        rows.append(
            [
                ("misses", 1 - 0.9 / 0.95, 1 - recall, 1 - seen[0]),
                ("false discoveries", 0.1, 1 - precision, 1 - seen[1]),
                (Method.BETTING, true_brier / 2, brier / 2, seen[2] / 2),
                ("cost", true_cost / 4, cost / 4, seen[3] / 4),
            ]
        )
    return collect(DELTA, rows)


def simulate_repeated_rows(draws, seed=23, n=30):
    """Rows repeated in the holdout count once; the broken twin counts every copy."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = rng.normal(size=(n, 3))
        y = (X[:, 0] > 0) ^ (rng.random(n) < 0.15)
        many = rng.integers(1, 30, n)
        repeated = np.repeat(X, many, axis=0), np.repeat(y, many).astype(int)
        entry = certify(Threshold(), *repeated, delta=DELTA).best
        broken = certify(Threshold(), *repeated, delta=DELTA, copies="natural").best
        rows.append([("repeated rows", 0.15, entry.value, broken.value)])
    return collect(DELTA, rows)


def simulate_discrete_rows(draws, seed=24, n=120):
    """Losses of rows of a few discrete contents; the broken twins bet on equal contents one after another."""
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        X = np.c_[rng.integers(0, 2, n), np.full(n, draw)]  # the second column keys another order
        y = np.ones(n, dtype=int)  # rows with 0 in the first column are always wrong
        (entry,) = certify(OneColumn(), X, y, claims="brier", copies="natural", delta=DELTA).guarantees
        halves = np.where(X[:, 0] == 1, 0.01**2, 0.99**2)
        broken = betting_upper_limit(np.sort(halves), delta=DELTA)
        (of_groups,) = certify(OneColumn(), X, y, groups=np.arange(n) // 2, delta=DELTA).guarantees
        means = 1.0 - X[:, 0].reshape(-1, 2).mean(axis=1)
        sorted_groups = betting_upper_limit(np.sort(means), delta=DELTA)
        risk = (0.01**2 + 0.99**2) / 2
        rows.append(
            [
                ("Brier score, discrete rows", risk, entry.value / 2, broken),
                ("groups of discrete rows", 0.5, of_groups.value, sorted_groups),
            ]
        )
    return collect(DELTA, rows)


class OneColumn:
    """Believes the first column."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = np.where(X[:, 0] == 1, 0.99, 0.01)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)
