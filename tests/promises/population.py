"""A population with a known law: no classifier errs less often than NOISE; a smaller guarantee is false."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from surewood import BinnedForestClassifier
from surewood.certify import certify

NOISE = 0.25


def draw(n, seed, d=4):
    """Independent rows: the sign of the first feature, flipped with probability NOISE."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, ((X[:, 0] > 0) ^ (rng.random(n) < NOISE)).astype(int)


def memorising_forest(X, y, **options):
    """A forest of this package that knows its training rows by heart."""
    return BinnedForestClassifier(15, max_features=None, random_state=0, **options).fit(X, y)


def nearest_neighbour(X, y):
    """A model of another library that knows its training rows by heart."""
    return KNeighborsClassifier(1).fit(X, y)


def is_true(certificate, least=NOISE):
    """Whether every guarantee of the error is one that a classifier of this population can keep."""
    return all(entry.value >= least for entry in certificate.guarantees if entry.quantity == "error")


def says_nothing_of_groups_or_time(model, n):
    """Whether a model without a holdout guarantees nothing where its n training rows are not independent."""
    grouped = certify(model, groups=np.arange(n) // 5)
    timed = certify(model, time=np.arange(n))
    return grouped.guarantees == timed.guarantees == ()
