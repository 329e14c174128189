"""Slow and obvious: every cascade visited, every machine trained for it alone (theory.md §3.6)."""

import itertools
import math

import numpy as np


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
