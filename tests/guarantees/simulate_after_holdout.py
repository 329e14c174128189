"""Thresholds, prediction sets, monitoring and cross-fitting (theory.md §11.4-11.9) against known laws."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from surewood.bounds import clopper_pearson, cross_fit_bound, fixed_sequence_choice, set_threshold
from surewood.bounds.evidence import CrossFitEvidence
from surewood.bounds.monitoring import ErrorEvidence
from surewood.certify import CrossFittedClassifier, Method, certify
from tests.guarantees.harness import Speaker, collect
from tests.guarantees.simulate_certify import half_zeros

DELTA = 0.1


def simulate_thresholds(draws, seed=30, n=300, at_most=0.2):
    """Error among accepted rows; the broken twin takes the best-looking threshold."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(0.95, 0.0, 40)  # rows with a score above are accepted
    rows = []
    for _ in range(draws):
        score = rng.random(n)
        wrong = rng.random(n) < 0.15 + 0.15 * (1 - score)
        sizes = np.array([(score >= t).sum() for t in grid])
        failures = np.array([wrong[score >= t].sum() for t in grid])
        chosen = fixed_sequence_choice(failures, sizes, at_most, delta=DELTA, start=8)
        naive = np.flatnonzero(failures <= at_most * sizes)

        def risk(position):
            return 0.15 + 0.15 * (1 - (1 + grid[position]) / 2)

        kept = 0.0 if chosen is None else risk(chosen)
        lax = 0.0 if naive.size == 0 else risk(naive[-1])
        rows.append([("threshold", kept, at_most, at_most - max(0.0, lax - kept))])
    return collect(DELTA, rows)


def simulate_sets(draws, seed=31, n=120, alpha=0.1):
    """Coverage of PAC sets of a uniform score; the broken twin uses the plain quantile."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        scores = rng.random(n)
        q = set_threshold(scores, alpha, delta=DELTA)
        plain = float(np.quantile(scores, alpha))
        rows.append([("sets", max(q, 0.0), alpha, alpha - max(0.0, plain - max(q, 0.0)))])
    return collect(DELTA, rows)


def simulate_monitor(draws, seed=32, n=400, u=0.2):
    """False alarms over all looks; the broken twin looks repeatedly with a fixed-sample limit."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        errors = rng.random(n) < u
        alarm = ErrorEvidence(u).update(errors).max() >= np.log(1 / DELTA)
        counts = np.cumsum(errors)
        looks = range(20, n, 20)
        repeated = any(1 - clopper_pearson(t - counts[t - 1], t, delta=DELTA) > u for t in looks)
        rows.append([("monitor", u, 0.0 if alarm else u, 0.0 if repeated else u)])
    return collect(DELTA, rows)


def simulate_cross_fitting(draws, seed=33, n=120, folds=4):
    """Mean of fold models that predict class frequencies; the broken twin gives the held-out score."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        p = rng.uniform(0.1, 0.9)
        y = rng.random(n) < p
        fold = np.arange(n) % folds
        models = np.array([y[fold != k].mean() for k in range(folds)])
        held_out = np.mean([2 * np.mean((models[k] - y[fold == k]) ** 2) for k in range(folds)])
        evidence = CrossFitEvidence(
            mean_brier=float(held_out),
            n_samples=n,
            fold_size=n // folds,
            outside_only=True,
            averaged=True,
            unweighted=True,
        )
        (entry,) = certify(Speaker(evidence), delta=DELTA).guarantees
        mean = models.mean()
        risk = 2 * (p * (1 - mean) ** 2 + (1 - p) * mean**2)
        rows.append([(Method.CROSS_FIT, risk / 2, entry.value / 2, float(held_out) / 2)])
    return collect(DELTA, rows)


def simulate_cross_fitted(draws, seed=34, n=100):
    """`CrossFittedClassifier` of nearest neighbours; the broken twin scores them on the rows they saw.

    The second table is half zeros, whose labels are coins; its twin deals equal rows to one fold.
    """
    rng = np.random.default_rng(seed)
    x = np.linspace(-3, 3, 301)[:, None]
    rows = []
    for _ in range(draws):
        X = rng.uniform(-3, 3, size=(n, 1))
        y = (rng.random(n) < 0.5).astype(int)
        model = CrossFittedClassifier(KNeighborsClassifier(1), n_folds=4).fit(X, y)
        (entry,) = certify(model, delta=DELTA).guarantees
        p = model.predict_proba(x)[:, 1]
        risk = float((2 * (0.5 * (1 - p) ** 2 + 0.5 * p**2)).mean())
        inside = [2 * np.mean((one.predict_proba(X)[:, 1] - y) ** 2) for one in model.models_]
        row = [("cross-fitted classifier", risk / 2, entry.value / 2, float(np.mean(inside)) / 2)]
        X, y = half_zeros(rng, 20 * n, hard=0.5, easy=0.0)[:2]
        (entry,) = certify(CrossFittedClassifier(Signs(), n_folds=4).fit(X, y), delta=DELTA).guarantees
        loss = np.where(X[:, 0] == 0, 0.25, 0.02**2)
        fold = np.where(X[:, 0] == 0, 0, np.arange(len(X)) % 4)
        own = float(np.mean([loss[fold == k].mean() for k in range(4)]))
        broken = cross_fit_bound(own, int(np.bincount(fold).min()), delta=DELTA)
        row.append(("cross-fitted half zeros", (0.25 + 0.02**2) / 2, entry.value / 2, broken))
        rows.append(row)
    return collect(DELTA, rows)


class Signs(ClassifierMixin, BaseEstimator):
    """Knows that the sign of the first column is the label, and that a zero is a coin."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        p = np.array([0.02, 0.5, 0.98])[1 + np.sign(X[:, 0]).astype(int)]
        return np.column_stack([1 - p, p])
