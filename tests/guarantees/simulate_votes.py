"""PAC-Bayes for votes: stumps under label noise (the vote is a median), tables on a grid of three classes."""

import numpy as np

from surewood import BinnedForestClassifier, RandomCompositeForestClassifier
from surewood.bounds import pac_bayes_bound
from surewood.bounds.evidence import VoteEvidence
from surewood.certify import certify
from surewood.trees.binning import as_table
from tests.guarantees.harness import Speaker, collect

DELTA = 0.1
CONDITIONS = {"hard_vote": True, "independent_subsamples": True, "in_bag_only": True, "unweighted": True}
NOISE, EDGE = 0.04, 0.4


def best_threshold(x, y):
    """Threshold t of 1[x > t] with the fewest errors, among midpoints and the ends."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    errors = np.concatenate(([np.count_nonzero(y == 0)], np.count_nonzero(y == 0) + np.cumsum(2 * y - 1)))
    cuts = np.concatenate(([0.0], (x[1:] + x[:-1]) / 2, [1.0]))
    return cuts[errors.argmin()]


def subsamples(rng, members, m):
    """Half of the points for each member, without replacement."""
    in_bag = np.zeros((members, m), dtype=bool)
    for row in in_bag:
        row[rng.permutation(m)[: m // 2]] = True
    return in_bag


def stump_risk(threshold):
    return NOISE + (1 - 2 * NOISE) * abs(threshold - EDGE)


def simulate_stumps(draws, seed=2, m=800, members=15):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        x = rng.random(m)
        y = (x > EDGE).astype(int) ^ (rng.random(m) < NOISE)
        in_bag = subsamples(rng, members, m)
        thresholds = np.array([best_threshold(x[bag], y[bag]) for bag in in_bag])
        predictions = (x > thresholds[:, None]).astype(int)
        evidence = VoteEvidence.from_predictions(predictions, in_bag, y, **CONDITIONS)
        certificate = certify(Speaker(evidence), delta=DELTA)
        seen = (predictions != y)[in_bag].mean()  # errors on the points the members were trained on
        risk = stump_risk(np.median(thresholds))
        row = [(entry.method, risk, entry.value, seen) for entry in certificate.guarantees]
        row.append(("smallest of both", risk, certificate.best.value, seen))
        rows.append(row)
    return collect(DELTA, rows)


def simulate_tables(draws, seed=3, m=800, members=12, cells=8, n_classes=3):
    """Members learn a label for each cell from half of the points; ties of the vote are errors."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        cell_probability = rng.dirichlet(np.full(cells, 5.0))
        label_probability = rng.dirichlet(np.array([30.0, 1.0, 1.0]), size=cells)
        x = rng.choice(cells, size=m, p=cell_probability)
        y = (rng.random(m)[:, None] > label_probability[x].cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
        in_bag = subsamples(rng, members, m)
        tables = np.empty((members, cells), dtype=int)
        for table, bag in zip(tables, in_bag):
            table[:] = (
                np.bincount(n_classes * x[bag] + y[bag], minlength=cells * n_classes)
                .reshape(cells, n_classes)
                .argmax(axis=1)
            )
        evidence = VoteEvidence.from_predictions(tables[:, x], in_bag, y, **CONDITIONS)
        certificate = certify(Speaker(evidence), delta=DELTA)
        votes = np.stack([(tables == c).sum(axis=0) for c in range(n_classes)], axis=1)
        winner = votes.argmax(axis=1)
        strict = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        right = np.where(strict, label_probability[np.arange(cells), winner], 0.0)
        risk = 1.0 - float(cell_probability @ right)
        seen = (tables[:, x] != y)[in_bag].mean()
        rows.append([(entry.method, risk, entry.value, seen) for entry in certificate.guarantees])
    return collect(DELTA, rows)


def simulate_certifiable_forest(draws, seed=12, n=800, noise=0.05):
    """`BinnedForestClassifier(certifiable=True)`; the broken twin counts the rows in the bag of each tree."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, size=(1000, 5))  # where the vote is compared with the better label
    rows = []
    for draw in range(draws):
        X = rng.uniform(-1, 1, size=(n, 5))
        y = (X[:, 0] > 0) ^ (rng.random(n) < noise)
        model = BinnedForestClassifier(9, certifiable=True, random_state=draw, n_jobs=1).fit(X, y)
        wrong = float((model.predict(places) != (places[:, 0] > 0)).mean())
        risk = noise + (1 - 2 * noise) * wrong
        first, tandem = (entry.value for entry in certify(model, delta=DELTA).guarantees)
        (votes,) = model.__certificate_evidence__()
        errors = (model.forest_.votes(model.model_.binned(as_table(X))) != y[:, None]).sum(axis=0)
        inside, sizes = errors - votes.out_of_bag.errors, n - votes.out_of_bag.sizes
        broken = pac_bayes_bound(float((inside / sizes).mean()), int(sizes.min()), delta=DELTA)
        rows.append(
            [("certifiable, first order", risk, first, broken), ("certifiable, tandem", risk, tandem, broken)]
        )
    return collect(DELTA, rows)


def simulate_certifiable_composite(draws, seed=13, n=800, noise=0.06):
    """`RandomCompositeForestClassifier(certifiable=True)`, with the pilot and without.

    The broken twins give the errors on the rows in the bag of each tree, most of which it knows by heart.
    """
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, size=(600, 2))
    better = places[:, 0] > 0
    kinds = {"composite": {"selection": "exact", "C": 1.0}, "composite by pilot": {"C": 100.0}}
    rows = []
    for draw in range(draws):
        X = rng.uniform(-1, 1, size=(n, 2))
        y = (X[:, 0] > 0) ^ (rng.random(n) < noise)
        row = []
        for name, options in kinds.items():
            model = RandomCompositeForestClassifier(
                3, certifiable=True, degrees=1, max_depth=9, random_state=draw, n_jobs=1, **options
            ).fit(X, y)
            wrong = float((model.predict(places) != better).mean())
            risk = noise + (1 - 2 * noise) * wrong
            (votes, *_) = model.__certificate_evidence__()
            errors = (model.tree_predictions(X) != y[:, None]).sum(axis=0)
            inside, sizes = errors - votes.out_of_bag.errors, n - votes.out_of_bag.sizes
            broken = float((inside / sizes).mean())
            for entry in certify(model, delta=DELTA).guarantees:
                row.append((f"{name}, {entry.method}", risk, entry.value, broken))
        rows.append(row)
    return collect(DELTA, rows)
