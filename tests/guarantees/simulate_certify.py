"""`certify` through its public door on populations with copies, groups, classes and costs; risks are known.

Most models are rules fixed in advance, so that every risk is a number.
"""

import numpy as np

from surewood.base.remembered import RememberedRows
from surewood.bounds import betting_upper_limit, clopper_pearson
from surewood.certify import Claim, Method, NoThresholdError, PredictionSets, certify, find_threshold
from tests.guarantees.harness import collect
from tests.promises.test_ordinary_tables import ORDINARY
from tests.promises.test_ordinary_tables import draw as ordinary

DELTA = 0.1


class ByHeart:
    """Says the label of the last training row with the same values, else the sign of the first one."""

    classes_ = np.array([0, 1])

    def __init__(self, X, y):
        self.known = {tuple(row): label for row, label in zip(X.tolist(), y.tolist())}
        self.remembered_rows_ = RememberedRows.from_table(X)

    def predict(self, X):
        return np.array([self.known.get(tuple(row), int(row[0] > 0)) for row in X.tolist()])


def simulate_training_rows(draws, seed=20, noise=0.3):
    """Holdouts of 40 whole-number rows; in every other one 8 are training rows, which the twin counts."""
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        X = rng.integers(-5000, 5000, (340, 2)).astype(float)
        y = ((X[:, 0] > 0) ^ (rng.random(340) < noise)).astype(int)
        model = ByHeart(X[:300], y[:300])
        old = 24 if draw % 2 else 0
        given = np.r_[X[300 + old :], X[:old]], np.r_[y[300 + old :], y[:old]]
        entry = certify(model, *given, delta=DELTA).best
        errors = int((model.predict(given[0]) != given[1]).sum())
        broken = clopper_pearson(errors, 40, delta=DELTA)
        rows.append([("training rows", noise, 1.0 if entry is None else entry.value, broken)])
    return collect(DELTA, rows)


class Rule:
    """A classifier fixed in advance: all zeros are 0, others by the sign of the first column."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        p = np.where(X[:, 0] == 0, 0.4, 1 / (1 + np.exp(-3 * X[:, 0])))
        return np.column_stack([1 - p, p])


def half_zeros(rng, n, idle=0.5, hard=0.4, easy=0.03):
    """Half of the rows are all zeros, and hard."""
    X = rng.normal(size=(n, 2)) * (rng.random((n, 1)) >= idle)
    wrong = rng.random(n) < np.where(X[:, 0] == 0, hard, easy)
    return X, ((X[:, 0] > 0) ^ wrong).astype(int), idle * hard + (1 - idle) * easy


def ages(rng, n):
    """One column of 62 ages, of which three are hard, and most of the rows."""
    age = np.where(rng.random(n) < 0.7, rng.integers(1, 4, n), rng.integers(4, 63, n))
    wrong = rng.random(n) < np.where(age <= 3, 0.4, 0.05)
    return age[:, None].astype(float), (1 ^ wrong).astype(int), 0.7 * 0.4 + 0.3 * 0.05


def simulate_equal_rows(draws, seed=25, n=300):
    """Equal rows are independent draws and all count; the broken twin counts contents."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        row = []
        for name, table in (("half zeros", half_zeros), ("62 ages", ages)):
            train = table(rng, 400)[0]
            X, y, risk = table(rng, n)
            entry = certify(Rule(), X, y, X_train=train, delta=DELTA).best
            wrong = (Rule().predict(X) != y).astype(float)
            _, content = np.unique(X, axis=0, return_inverse=True)
            contents = np.bincount(content, weights=wrong) / np.bincount(content)
            broken = clopper_pearson(round(contents.sum()), contents.size, delta=DELTA)
            row.append((name, risk, 1.0 if entry is None else entry.value, broken))
        rows.append(row)
    return collect(DELTA, rows)


class Never:
    """Predicts 0, after it was trained on a table of some kind."""

    classes_ = np.array([0, 1])

    def __init__(self, kind):
        self.remembered_rows_ = RememberedRows.from_table(ordinary(kind, 1000, 0)[0])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def simulate_kinds_of_tables(draws, n=40):
    """Ordinary tables of every kind, labels 1 in three rows of ten; the broken twin is what was measured."""
    models = {kind: Never(kind) for kind in ORDINARY}
    rows = []
    for draw in range(draws):
        row = []
        for kind, model in models.items():
            X, y = ordinary(kind, n, draw + 1)
            entry = certify(model, X, y, delta=DELTA).best
            row.append((kind, 0.3, 1.0 if entry is None else entry.value, float(y.mean())))
        rows.append(row)
    return collect(DELTA, rows)


def simulate_rules_of_equal_rows(draws, seed=26, n=400):
    """A recall and sets on a table of half zeros; the broken twins find their thresholds on contents."""
    rng = np.random.default_rng(seed)
    places = half_zeros(np.random.default_rng(0), 40_000)[0]
    p = Rule().predict_proba(places)[:, 1]
    chance = np.where(places[:, 0] == 0, 0.4, np.where(places[:, 0] > 0, 0.97, 0.03))

    def missed(threshold):  # of rows with label 1
        return float((chance * (p < threshold)).sum() / chance.sum())

    def uncovered(threshold):
        return float((chance * (p < threshold) + (1 - chance) * (1 - p < threshold)).mean())

    rows = []
    for _ in range(draws):
        X, y, _ = half_zeros(rng, n)
        _, first = np.unique(X, axis=0, return_index=True)
        row = []
        recall, sets = [], []
        for part in (np.arange(n), first):
            given = X[part], y[part]
            try:
                recall.append(missed(find_threshold(Rule(), *given, recall=0.8, delta=DELTA).threshold))
            except NoThresholdError:
                recall.append(0.0)
            sets.append(uncovered(PredictionSets(Rule(), 0.1, delta=DELTA).fit(*given).thresholds_[0]))
        row.append(("recall of half zeros", recall[0], 0.2, 0.2 - (recall[1] - recall[0])))
        row.append(("sets of half zeros", sets[0], 0.1, 0.1 - (sets[1] - sets[0])))
        rows.append(row)
    return collect(DELTA, rows)


def simulate_sizes_of_groups(draws, seed=27, n_groups=60):
    """Large groups are harder; the broken twin reads the limit as one for rows."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        large = rng.random(n_groups) < 0.2
        group = np.repeat(np.arange(n_groups), np.where(large, 40, 4))
        X = rng.normal(size=(group.size, 3))
        wrong = rng.random(group.size) < np.where(large[group], 0.4, 0.05)
        y = ((X[:, 0] > 0) ^ wrong).astype(int)
        entry = certify(Threshold(), X, y, groups=group, delta=DELTA).best
        (recall,) = certify(Threshold(), X, y, groups=group, claims="recall:1", delta=DELTA).guarantees
        missed = 1 - recall.value
        of_groups = 0.2 * 0.4 + 0.8 * 0.05
        with_label_1 = 0.8 * (1 - 0.5**4)  # small groups that have one, while all large ones do
        of_some = (0.2 * 0.4 + with_label_1 * 0.05) / (0.2 + with_label_1)
        of_rows = (0.2 * 40 * 0.4 + 0.8 * 4 * 0.05) / (0.2 * 40 + 0.8 * 4)
        rows.append(
            [
                ("sizes of groups", of_groups, entry.value, entry.value - (of_rows - of_groups)),
                ("recall in groups", of_some, missed, missed - (of_rows - of_some)),
            ]
        )
    return collect(DELTA, rows)


def simulate_unknown_classes(draws, seed=28, n=200):
    """A third class that training lacks has recall 0; the broken twin takes the mean of the known ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = rng.normal(size=(n, 3))
        y = np.where(rng.random(n) < 0.1, 2, (X[:, 0] > 0) ^ (rng.random(n) < 0.1))
        (entry,) = certify(Threshold(), X, y, claims="balanced_accuracy", delta=DELTA).guarantees
        recalls = [entry.decomposition[f"recall of {label}, at least"] for label in (0, 1)]
        rows.append([("unknown classes", 1 - 1.8 / 3, 1 - entry.value, 1 - np.mean(recalls))])
    return collect(DELTA, rows)


def simulate_stratified(draws, seed=29, share=0.8):
    """Four in five rows held out within each class; the broken twin weighs the classes equally."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        pool = np.r_[np.zeros(900, dtype=int), np.ones(100, dtype=int)]
        X = rng.normal(size=(1000, 3))
        wrong = rng.random(1000) < np.where(pool == 0, 0.25, 0.02)
        X[:, 0] = np.abs(X[:, 0]) * np.where(pool ^ wrong, 1, -1)
        held = np.concatenate([np.flatnonzero(pool == c)[: int(share * (pool == c).sum())] for c in (0, 1)])
        entry = certify(Threshold(), X[held], pool[held], stratified=True, delta=DELTA).best
        own = [clopper_pearson(int(wrong[held][pool[held] == c].sum()), int((pool[held] == c).sum()),
                               delta=DELTA / 2) for c in (0, 1)]  # fmt: skip
        rows.append([("stratified", 0.9 * 0.25 + 0.1 * 0.02, entry.value, float(np.mean(own)))])
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


def simulate_repeated_rows(draws, seed=23):
    """Every other holdout has 45 rows 25 times each and is refused; the broken twin counts every row."""
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        X = rng.normal(size=(45, 3))
        y = ((X[:, 0] > 0) ^ (rng.random(45) < 0.15)).astype(int)
        many = np.repeat(np.arange(45), 25) if draw % 2 else np.arange(45)
        entry = certify(Threshold(), X[many], y[many], delta=DELTA).best
        errors = int((Threshold().predict(X[many]) != y[many]).sum())
        broken = clopper_pearson(errors, many.size, delta=DELTA)
        rows.append([("repeated rows", 0.15, 1.0 if entry is None else entry.value, broken)])
    return collect(DELTA, rows)


def simulate_discrete_rows(draws, seed=24, n=120):
    """Losses of rows of a few discrete contents; the broken twins bet on equal contents one after another."""
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        X = np.c_[rng.integers(0, 2, n), np.full(n, draw)]  # the second column keys another order
        y = np.ones(n, dtype=int)  # rows with 0 in the first column are always wrong
        (entry,) = certify(OneColumn(), X, y, claims="brier", delta=DELTA).guarantees
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
