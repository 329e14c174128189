"""Clopper-Pearson on Gaussian pairs, alone and after choosing among models on the holdout itself."""

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from surewood.certify import Method, certify
from tests.guarantees.harness import collect

DELTA = 0.1


class Linear:
    """sign(w x + b) for two unit Gaussians at +mean and -mean, whose risk is a normal tail."""

    def __init__(self, w, b):
        self.w, self.b = w, b

    def predict(self, X):
        return np.where(X @ self.w + self.b > 0, 1, -1)

    def risk(self, mean):
        scale = np.linalg.norm(self.w)
        return 0.5 * (ndtr(-(mean @ self.w + self.b) / scale) + ndtr(-(mean @ self.w - self.b) / scale))


def gaussian_pair(rng, n, mean):
    y = rng.choice([-1, 1], n)
    return y[:, None] * mean + rng.normal(size=(n, mean.size)), y


def fitted(rng, mean):
    X, y = gaussian_pair(rng, 20, mean)
    return Linear((y[:, None] * X).mean(axis=0), 0.0)


def normal_approximation(errors, n):
    """The textbook interval, wrong where errors are few."""
    p = errors / n
    return p + norm.isf(DELTA) * np.sqrt(p * (1 - p) / n)


def simulate_holdout(draws, seed=0):
    rng = np.random.default_rng(seed)
    mean = np.array([1.9, 0.0])
    rows = []
    for _ in range(draws):
        model = fitted(rng, mean)
        X, y = gaussian_pair(rng, 60, mean)
        entry = certify(model, X, y, delta=DELTA).best
        errors = entry.decomposition["errors"]
        rows.append([(Method.HOLDOUT, model.risk(mean), entry.value, normal_approximation(errors, 60))])
    return collect(DELTA, rows)


def simulate_selection(draws, seed=1):
    """The best of twenty random directions on the holdout itself."""
    rng = np.random.default_rng(seed)
    mean = np.array([0.5, 0.0, 0.0])
    rows = []
    for _ in range(draws):
        models = [Linear(w, 0.0) for w in rng.normal(size=(20, 3))]
        X, y = gaussian_pair(rng, 50, mean)
        best = min(models, key=lambda model: np.count_nonzero(model.predict(X) != y))
        corrected, naive = (certify(best, X, y, delta=DELTA, n_models=n).best.value for n in (20, 1))
        rows.append([("best of twenty", best.risk(mean), corrected, naive)])
    return collect(DELTA, rows)
