"""Slow and obvious: every cascade visited, every SVM trained for it alone (theory.md §3.6).

Also `ToyTrainer`, whose SVMs are random functions of the subset they are trained on, so that any shape of
tree may come out, and `random_table`, small tables with many equal distances.
"""

import itertools
import math
import zlib

import numpy as np

from surewood.cascade.search import Outcome


def outcome_of(trainer, rows, choice):
    return trainer.train([rows], [choice])[0][0]


def divide(trainer, rows, outcome, share):
    """Rows that stay and rows that go on ([D-23]), by plain sorting; None where nobody stays or goes on."""
    weight = trainer.weight[rows]
    total = weight.sum()
    wanted = (
        math.floor(share * int(total) + type(share)(1, 2)) if float(total).is_integer() else share * total
    )
    if wanted <= 0:
        return None
    order = np.argsort(outcome.distance, kind="stable")
    reached = 0.0
    for i in order:
        reached += weight[i]
        if reached >= wanted - 1e-9 * total:
            limit = outcome.distance[i]
            break
    go_on = outcome.distance <= limit
    return None if go_on.all() else (~go_on, rows[go_on])


def score_cascade(trainer, complexity, gamma, choices, shares):
    """Criterion (3.8) in counts, or None where the cascade cannot be built."""
    m = trainer.weight.sum()
    rows = np.arange(len(trainer.weight), dtype=np.int32)
    terms, asked = [], 0.0
    for k, choice in enumerate(choices):
        outcome = outcome_of(trainer, rows, choice)
        weight = trainer.weight[rows]
        stay = np.ones(len(rows), dtype=bool)
        a = asked + complexity[choice]
        if k + 1 < len(choices):
            if outcome.distance is None:
                return None
            parts = divide(trainer, rows, outcome, shares[k])
            if parts is None:
                return None
            stay, following = parts
            asked += complexity[choice]
            a = asked + complexity[choice]
        plus = weight[stay & outcome.correct].sum()
        minus = weight[stay & ~outcome.correct].sum()
        terms.append(minus + (plus if math.isinf(gamma) else min(4 * gamma * m * a, plus)))
        if k + 1 < len(choices):
            rows = following
    return float(sum(terms))


def all_scores(trainer, complexity, gammas, shares, max_leaves):
    """{(choices, fractions): scores at every γ}, in the order of ties [D-25]."""
    scores = {}
    g, f = range(trainer.n_choices), range(len(shares))
    for leaves in range(1, max_leaves + 1):
        for parts in itertools.product(*[g if k % 2 == 0 else f for k in range(2 * leaves - 1)]):
            choices, fractions = parts[0::2], parts[1::2]
            cut = [shares[i] for i in fractions]
            found = [score_cascade(trainer, complexity, gamma, choices, cut) for gamma in gammas]
            if found[0] is not None:
                scores[choices, fractions] = np.array(found)
    return scores


def first_minimiser(scores, k, n_leaves=None):
    """The best cascade at the k-th γ: an equal later one never replaces an earlier."""
    best, best_score = None, np.inf
    for (choices, fractions), values in scores.items():
        if n_leaves is not None and len(choices) != n_leaves:
            continue
        if best is None or values[k] < best_score - 1e-12 * max(1.0, abs(best_score)):
            best, best_score = (choices, fractions), values[k]
    return best, best_score


class ToyTrainer:
    """Distances with many ties, some constants, and an accuracy that grows with the choice."""

    def __init__(self, n, n_choices, seed, weight=None, accuracy=0.7):
        self.weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.n_choices, self.seed, self.accuracy = n_choices, seed, accuracy
        self.n_calls = 0

    def train(self, rows, choices):
        self.n_calls += len(rows) * len(choices)
        return [[self._outcome(own, choice) for choice in choices] for own in rows]

    def _outcome(self, rows, choice):
        rng = np.random.default_rng([self.seed, choice, zlib.crc32(np.asarray(rows, np.int32).tobytes())])
        correct = rng.random(len(rows)) < self.accuracy + 0.05 * choice
        if len(rows) < 2 or rng.random() < 0.1:
            return Outcome(None, np.ones(len(rows), dtype=bool))
        levels = rng.integers(1, max(2, len(rows) + 2))
        return Outcome(rng.integers(0, levels, len(rows)).astype(np.float64), correct)


def random_table(seed):
    """Whole numbers, copies or mirrored points, and labels; every third table has three classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(1, 6))
    kind = seed % 5
    if kind == 0:
        X = rng.integers(-3, 4, (n, d)).astype(float)
    elif kind == 1:
        X = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == 2:
        X = np.round(rng.standard_normal((n, d)), 1)
    elif kind == 3:
        X = rng.standard_normal((n, d))
    else:
        half = rng.standard_normal((n // 2, d))
        X = np.vstack([half, -half])
    noise = rng.standard_normal(len(X))
    score = X[:, 0] * X[:, -1] + 0.5 * noise if seed % 2 else (X**2).sum(axis=1) + 0.8 * noise
    n_classes = 2 if seed % 3 else 3
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
