"""The papers' bounds on a grid of cells, where millions of points are a table and the risk is a sum.

Trees ask threshold questions and have constant leaves or one half-plane a leaf; cascades ask strips and
answer with half-planes. Both are fitted to the counts, so their training errors are optimistic.
"""

from itertools import combinations

import numpy as np

from surewood.bounds import (
    cascade_complexity,
    cascade_family_count,
    cascade_theorem,
    leaf_log_growth,
    real_cascade_bound,
    real_composite_bound,
    split_log_growth,
)
from surewood.bounds.cascade import native_cascade_complexity
from surewood.bounds.evidence import CascadeEvidence, ForestEvidence, TreeEvidence
from surewood.cascade.chain import distance_of
from surewood.certify import Method, certify
from surewood.certify.from_evidence import tree_theorem
from surewood.svm.one_vs_one import class_scores
from tests.bounds.evidence_samples import IN_FORCE
from tests.guarantees.harness import Speaker, collect

DELTA = 0.1
STATED = {"unweighted": True, "affine_features": True}
SIDE = 4
POSITION = np.array([(i, j) for i in range(SIDE) for j in range(SIDE)])
CUTS = [(f, t + 0.5) for f in range(2) for t in range(SIDE - 1)]
BELOW = np.array([POSITION[:, f] < t for f, t in CUTS])  # one row a cut


def random_world(rng, m, n_classes):
    """Probabilities of (cell, class) and the counts of m draws; each quadrant prefers a class."""
    cells = rng.dirichlet(np.full(SIDE * SIDE, 2.0))
    quadrant = 2 * (POSITION[:, 0] >= SIDE // 2) + (POSITION[:, 1] >= SIDE // 2)
    preferred = rng.integers(n_classes, size=4)[quadrant]
    classes = rng.dirichlet(np.full(n_classes, 0.5), size=SIDE * SIDE)
    classes = 0.15 * classes + 0.85 * np.eye(n_classes)[preferred]
    probability = cells[:, None] * classes
    counts = rng.multinomial(m, (probability / probability.sum()).ravel()).reshape(probability.shape)
    return probability, counts


def half_plane_leaf(counts, inside):
    """Labels of the cells in a leaf by its best cut, and the errors; a constant if no cut is better."""
    here = counts * inside[:, None]
    total = here.sum(axis=0)
    low = BELOW @ here
    errors = total.sum() - low.max(axis=1) - (total - low).max(axis=1)
    best = int(errors.argmin())
    if errors[best] >= total.sum() - total.max():
        return np.full(inside.size, total.argmax()), 0
    return np.where(BELOW[best], low[best].argmax(), (total - low[best]).argmax()), 1


def grow_tree(rng, counts, inside, depth, features):
    """Leaves as (inside, labels, degree, depth): greedy questions on one random feature a node."""
    if depth == features:
        labels, degree = half_plane_leaf(counts, inside)
        return [(inside, labels, degree, depth)]
    feature = rng.integers(2)
    here = counts * inside[:, None]
    total = here.sum(axis=0)
    low = BELOW @ here
    errors = total.sum() - low.max(axis=1) - (total - low).max(axis=1)
    options = [k for k, (f, _) in enumerate(CUTS) if f == feature]
    cut = BELOW[min(options, key=lambda k: errors[k])]
    return grow_tree(rng, counts, inside & cut, depth + 1, features) + grow_tree(
        rng, counts, inside & ~cut, depth + 1, features
    )


def composite_tree(rng, counts):
    """Labels of all cells and the evidence of a tree of depth 2."""
    leaves = grow_tree(rng, counts, np.ones(SIDE * SIDE, dtype=bool), 0, 2)
    labels = np.zeros(SIDE * SIDE, dtype=int)
    correct, errors = [], []
    for inside, answer, _, _ in leaves:
        labels[inside] = answer[inside]
        held = counts[inside].sum()
        right = counts[inside, answer[inside]].sum()
        correct.append(right)
        errors.append(held - right)
    evidence = TreeEvidence(
        correct=correct,
        errors=errors,
        depth=[leaf[3] for leaf in leaves],
        degree=[leaf[2] for leaf in leaves],
        n_classes=counts.shape[1],
        n_features=2,
        n_split_features=2,
        max_features=1,
        n_degrees=1,
        max_depth=2,
        **IN_FORCE,
    )
    return labels, evidence


def risk_of(labels, probability):
    return 1.0 - float(probability[np.arange(labels.size), labels].sum())


def simulate_composite(draws, seed=6, m=4_000_000):
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        probability, counts = random_world(rng, m, 2 + draw % 2)
        trees = [composite_tree(rng, counts) for _ in range(3)]
        labels, evidence = trees[0]
        risk, seen = risk_of(labels, probability), evidence.errors.sum() / m
        theorem = tree_theorem(evidence)
        vote = np.stack(
            [np.sum([t[0] == c for t in trees], axis=0) for c in range(evidence.n_classes)], axis=1
        )
        strict = vote.max(axis=1) >= 2  # of three trees
        right = probability[np.arange(SIDE * SIDE), vote.argmax(axis=1)]
        vote_risk = 1.0 - float(right[strict].sum())
        forest = certify(
            Speaker(ForestEvidence(trees=[t[1] for t in trees], hard_vote=True)), delta=DELTA
        ).best.value
        uniform = certify(Speaker(evidence), delta=DELTA).best.value
        vote_seen = 1.0 - counts[np.arange(SIDE * SIDE), vote.argmax(axis=1)][strict].sum() / m
        rows.append(
            [
                (Method.COMPOSITE_TREE, risk, uniform, seen),
                ("fixed rho", risk, theorem.at(rho_inverse=3, delta=DELTA).value, seen),
                ("simple form", risk, theorem.simple(delta=DELTA).value, seen),
                (Method.COMPOSITE_FOREST, vote_risk, forest, vote_seen),
            ]
        )
    return collect(DELTA, rows)


def cascade_nodes(rng, counts, n_leaves):
    """Leaves as (inside, labels): a half-plane a node, the strip around its edge goes on."""
    inside, leaves = np.ones(SIDE * SIDE, dtype=bool), []
    for node in range(n_leaves):
        here = counts * inside[:, None]
        low = BELOW @ here
        total = here.sum(axis=0)
        as_is, flipped = low[:, 0] + (total - low)[:, 1], low[:, 1] + (total - low)[:, 0]
        best = int(np.maximum(as_is, flipped).argmax())
        labels = np.where(BELOW[best], 0, 1) if as_is[best] >= flipped[best] else np.where(BELOW[best], 1, 0)
        feature, edge = CUTS[best]
        near = np.abs(POSITION[:, feature] - edge) <= rng.choice([0.5, 1.5])
        stays = inside & ~near if node < n_leaves - 1 else inside
        leaves.append((stays, labels))
        inside = inside & near
    return leaves


def simulate_cascade(draws, seed=7, m=4_000_000):
    rng = np.random.default_rng(seed)
    rows = []
    for draw in range(draws):
        probability, counts = random_world(rng, m, 2)
        leaves = cascade_nodes(rng, counts, 1 + draw % 3)
        risk = 1.0 - sum(float(probability[inside, labels[inside]].sum()) for inside, labels in leaves)
        correct = np.array([counts[inside, labels[inside]].sum() for inside, labels in leaves])
        held = np.array([counts[inside].sum() for inside, _ in leaves])
        growth = leaf_log_growth([1] * len(leaves), 2, m)
        complexity = cascade_complexity(growth, m, variant="smaller")
        families = {"n_families": cascade_family_count(1, 3), "max_leaves": 3}
        counted = {"correct": correct, "errors": held - correct, "complexity": complexity}
        evidence = CascadeEvidence(**counted, **families, **STATED)
        theorem = cascade_theorem(
            correct, held - correct, evidence.complexity, n_families=evidence.n_families
        )
        seen = (m - correct.sum()) / m
        rows.append(
            [
                (Method.CASCADE, risk, certify(Speaker(evidence), delta=DELTA).best.value, seen),
                ("fixed rho", risk, theorem.at(rho_inverse=3, delta=DELTA).value, seen),
                ("simple form", risk, theorem.simple(delta=DELTA).value, seen),
            ]
        )
    return collect(DELTA, rows)


def simulate_native_cascade(draws, seed=10, m=40_000_000):
    """Chains of one-vs-one half-planes over three classes: scores decide labels, their gap who goes on."""
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(3), 2))
    rows = []
    for draw in range(draws):
        probability, counts = random_world(rng, m, 3)
        n_leaves = 1 + draw % 2
        inside, labels = np.ones(SIDE * SIDE, dtype=bool), np.zeros(SIDE * SIDE, dtype=int)
        correct, errors = [], []
        for node in range(n_leaves):
            decisions = np.column_stack([best_half_plane(counts[inside][:, pair], inside) for pair in pairs])
            scores = class_scores(decisions, np.arange(3), 3)
            gap, answer = distance_of(scores), scores.argmax(axis=1)
            near = inside & (gap <= np.median(gap[inside])) & (node < n_leaves - 1)
            stays = inside & ~near
            labels[stays] = answer[stays]
            correct.append(counts[stays, answer[stays]].sum())
            errors.append(counts[stays].sum() - correct[-1])
            inside = near
        evidence = CascadeEvidence(
            correct=correct,
            errors=errors,
            complexity=native_cascade_complexity([3] * n_leaves, m, 3),
            n_families=cascade_family_count(1, 2),
            max_leaves=2,
            n_classes=3,
            **STATED,
        )
        bound = certify(Speaker(evidence), delta=DELTA).best.value
        rows.append([("native cascade", risk_of(labels, probability), bound, np.sum(errors) / m)])
    return collect(DELTA, rows)


def best_half_plane(counts, inside):
    """Signed distances of all cells from the cut that best separates the first class from the second."""
    below = BELOW[:, inside]
    total = counts.sum(axis=0)
    low = below @ counts
    gains = low[:, 0] + (total - low)[:, 1] - (low[:, 1] + (total - low)[:, 0])
    best = int(np.abs(gains).argmax())
    feature, edge = CUTS[best]
    return np.sign(gains[best]) * (edge - POSITION[:, feature])


def simulate_real_cascade(draws, seed=8, m=300_000):
    """Half-planes times 1/2 or 1: values in [-1, 1] with two levels a leaf."""
    rng = np.random.default_rng(seed)
    polynomial = leaf_log_growth(1, 2, m)
    rows = []
    for draw in range(draws):
        probability, counts = random_world(rng, m, 2)
        leaves = cascade_nodes(rng, counts, 1 + draw % 2)
        levels = rng.choice([0.5, 1.0], size=len(leaves))
        margins, risk = [], 1.0
        for (inside, labels), level in zip(leaves, levels):
            right = int(counts[inside, labels[inside]].sum())
            wrong = int(counts[inside].sum()) - right
            margins.append(np.repeat([level, -level], [right, wrong]))
            risk -= float(probability[inside, labels[inside]].sum())
        depth = [0] if len(leaves) == 1 else [1, 1]
        # counting route (1.4): strips along the path, a half-plane, and two levels at the leaf
        growth = np.array([2 * polynomial * d + polynomial + np.log(2) for d in depth])
        arguments = {"n_families": 3, "rho_inverse": 4, "delta": DELTA}
        bound, sharper = (
            real_cascade_bound(margins, np.sqrt(2 * growth / m), thresholds=t, **arguments)
            for t in ("smallest", "any")
        )
        seen = bound.training_error
        rows.append([("smallest margins", risk, bound.value, seen), ("any", risk, sharper.value, seen)])
    return collect(DELTA, rows)


def simulate_real_composite(draws, seed=9, m=300_000):
    """Trees of one question; the label of a leaf scores 3/4 or 1, the other class the rest."""
    rng = np.random.default_rng(seed)
    questions = split_log_growth(m, 1, 2, mode="union")
    rows = []
    for _ in range(draws):
        probability, counts = random_world(rng, m, 2)
        margins, growth, risk = [], [], 1.0
        for inside, labels, degree, depth in grow_tree(rng, counts, np.ones(SIDE * SIDE, dtype=bool), 0, 1):
            right = int(counts[inside, labels[inside]].sum())
            level = rng.choice([0.5, 1.0])
            margins.append(np.repeat([level, -level], [right, int(counts[inside].sum()) - right]))
            # counting route (1.4) for values in [0, 1]: a question, a classifier and two levels
            growth.append(depth * questions + leaf_log_growth(degree, 2, m) + np.log(2))
            risk -= float(probability[inside, labels[inside]].sum())
        bound = real_composite_bound(
            margins,
            np.sqrt(np.array(growth) / (2 * m)),
            n_classes=2,
            n_families=2,
            rho_inverse=4,
            delta=DELTA,
        )
        rows.append([("real leaves", risk, bound.value, bound.training_error)])
    return collect(DELTA, rows)
