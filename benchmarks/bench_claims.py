"""Claims, thresholds, sets and monitors on large holdouts: processor seconds beside prediction.

Run: ``python -m benchmarks.bench_claims``. Goals: 50 claims on 100,000 rows in 0.5 s, a threshold in 0.2 s,
sets of 100,000 rows with 100 classes in 1 s, a monitor of 1,000,000 rows in 2 s. Then the widths of limits by
betting: at most 5 % wider than the best of Hoeffding's, empirical Bernstein's and Bentkus's.
"""

from __future__ import annotations

import time

import numpy as np

from surewood.bounds import betting_upper_limit, clopper_pearson
from surewood.certify import Monitor, PredictionSets, certify, find_threshold


class Known:
    """A model that knows its answers: prediction takes no time."""

    def __init__(self, probabilities):
        self.probabilities, self.classes_ = probabilities, np.arange(probabilities.shape[1])

    def predict_proba(self, X):
        return self.probabilities[: len(X)]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def timed(name, goal, work):
    start = time.process_time()
    work()
    print(f"{name:45s} {time.process_time() - start:6.2f} s   goal {goal:.1f} s")


DELTA = 0.05


def hoeffding(z):
    return z.mean() + np.sqrt(np.log(1 / DELTA) / (2 * len(z)))


def bernstein(z):
    """With the observed variance (Maurer and Pontil)."""
    log = np.log(2 / DELTA)
    return z.mean() + np.sqrt(2 * z.var(ddof=1) * log / len(z)) + 7 * log / (3 * (len(z) - 1))


def bentkus(z):
    """A sum of values in [0, 1] has at most e times the tail of the binomial law of the same mean."""
    return clopper_pearson(int(np.ceil(z.sum() - 1e-9)), len(z), delta=DELTA / np.e)


LAWS = {
    "Bernoulli(0.01)": lambda rng, n: (rng.random(n) < 0.01).astype(float),
    "Bernoulli(0.1)": lambda rng, n: (rng.random(n) < 0.1).astype(float),
    "Bernoulli(0.5)": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "beta(1, 9)": lambda rng, n: rng.beta(1, 9, n),
    "beta(2, 2)": lambda rng, n: rng.beta(2, 2, n),
    "beta(0.5, 0.5)": lambda rng, n: rng.beta(0.5, 0.5, n),
    "beta(10, 30)": lambda rng, n: rng.beta(10, 30, n),
}


def print_widths(samples=40):
    """Mean distance from the sample mean to the upper limit."""
    rng = np.random.default_rng(0)
    others = {"Hoeffding": hoeffding, "Bernstein": bernstein, "Bentkus": bentkus}
    head = " ".join(f"{name:>10s}" for name in ("betting", *others, "ratio"))
    print(f"\n{'width of the limit (ratio: to the best)':31s} {head}")
    for name, law in LAWS.items():
        for n in (100, 300, 1000, 10_000):
            widths = []
            for _ in range(samples):
                z = law(rng, n)
                limits = [betting_upper_limit(z, delta=DELTA), *(limit(z) for limit in others.values())]
                widths.append(np.minimum(limits, 1.0) - z.mean())
            mean = np.mean(widths, axis=0)
            numbers = " ".join(f"{width:10.4f}" for width in (*mean, mean[0] / mean[1:].min()))
            print(f"{name:20s} {n:6d} rows {numbers}")


def main(quick: bool = False) -> None:
    """Print the table; `quick` with a tenth of the rows, whose limits are then generous."""
    rng = np.random.default_rng(0)
    n = 10_000 if quick else 100_000
    X, s = rng.random((n, 10)), rng.random(n)
    y = (rng.random(n) < s).astype(int)
    two = Known(np.c_[1 - s, s])
    claims = ["error", "recall:1", "precision:1", "fpr:1", "f1:1"] * 10
    timed(f"50 claims, {n:,} rows", 0.5, lambda: certify(two, X, y, claims=claims))
    timed(f"threshold, {n:,} rows", 0.2, lambda: find_threshold(two, X, y, recall=0.9))
    many = Known(rng.dirichlet(np.full(100, 0.1), n))
    labels = rng.integers(0, 100, n)
    for score in ("threshold", "adaptive"):
        sets = PredictionSets(many, 0.1, score=score)
        timed(f"sets, 100 classes, {score}: fit", 1.0, lambda sets=sets: sets.fit(X, labels))
        timed(f"sets, 100 classes, {score}: predict", 1.0, lambda sets=sets: sets.predict_set(X))
    million = 100_000 if quick else 1_000_000
    monitor = Monitor(0.05, holdout_scores=rng.random(2000))
    errors, scores = rng.random(million) < 0.04, rng.random(million)
    timed(f"monitor, {million:,} rows", 2.0, lambda: monitor.add(errors=errors, scores=scores))
    for u in (0.01, 0.05, 0.2):
        rows = []
        for _ in range(5 if quick else 50):
            doubled = Monitor(u)
            while not doubled.add(errors=rng.random(50) < 2 * u).alarm:
                pass
            rows.append(doubled.state.n_labelled)
        print(f"rows until the alarm when an error of {u:g} doubles: median {int(np.median(rows)):,}")
    if not quick:
        print_widths()


if __name__ == "__main__":
    main()
