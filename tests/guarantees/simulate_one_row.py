"""The set of the next row: marginal prediction sets through `PredictionSets` (theory.md §11.5).

The claim is about a holdout and one new row together, so each draw has both, and what is counted is whether
the set misses the label. It may do so with probability `ALPHA`, which takes the place of delta. New rows of a
class, of a group, after copied rows: each has its own twin.
"""

import numpy as np

from surewood.base.remembered import RememberedRows
from surewood.certify import PredictionSets
from surewood.certify.prediction_sets import label_scores, tie_breakers
from tests.guarantees.harness import collect
from tests.guarantees.simulate_claims_in_use import Scorer, draw

ALPHA = 0.2


class Memory(Scorer):
    """Is sure of the labels of its training rows, and a plain scorer elsewhere."""

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.remembered_rows_ = RememberedRows.from_table(X)

    def predict_proba(self, X):
        p = super().predict_proba(X)
        equal = np.asarray(X)[:, None, :] == self.X[None, :, :]
        row, known = np.nonzero(equal.all(axis=2))
        p[row] = np.eye(2)[self.y[known]]
        return p


def _missed(sets, X, y, **groups):
    """1 where the set of the only row misses its label."""
    return 0.0 if sets.predict_set(X, **groups)[0, y[0]] else 1.0


def _one_rank_more(sets, scores, X, y):
    """The same where the threshold is the next larger score: a quantile off by one."""
    ordered = np.append(np.sort(scores), np.inf)
    next_larger = ordered[np.searchsorted(ordered, sets.thresholds_[0], side="right")]
    score = label_scores(sets.model.predict_proba(X), sets.score, tie_breakers(X, sets.score))[0, y[0]]
    return float(score < next_larger)


def _row(name, missed, twin):
    """A row of the harness that is violated where the label is missed, and by the twin where it misses."""
    return name, missed, 0.5, 0.5 - (twin - missed)


def _plain(rng, name, score):
    """Four holdout rows and the next one."""
    X, y = draw(rng, 5)
    sets = PredictionSets(Scorer(), ALPHA, "marginal", score=score).fit(X[:4], y[:4])
    p = label_scores(Scorer().predict_proba(X[:4]), score, tie_breakers(X[:4], score))[np.arange(4), y[:4]]
    return _row(name, _missed(sets, X[4:], y[4:]), _one_rank_more(sets, p, X[4:], y[4:]))


def _of_class(rng, label=1):
    """A new row of the class that gets small probabilities; the twin does not tell the classes apart."""
    s = rng.random(60) ** 3
    X, y = np.c_[s, rng.random(60)], (rng.random(60) < 0.1 + 0.7 * s).astype(int)
    holdout, (new, *_) = slice(0, 20), 20 + np.flatnonzero(y[20:] == label)
    sets = PredictionSets(Scorer(), ALPHA, "marginal", by="class").fit(X[holdout], y[holdout])
    pooled = PredictionSets(Scorer(), ALPHA, "marginal").fit(X[holdout], y[holdout])
    one = X[new : new + 1], y[new : new + 1]
    return _row("one row of a class", _missed(sets, *one), _missed(pooled, *one))


def _of_group(rng):
    """In group "b" labels are turned around; the twin does not tell the groups apart."""
    X, y = draw(rng, 21)
    group = np.where(rng.random(21) < 0.7, "a", "b")
    group[20] = "b"
    y = np.where(group == "b", (X[:, 0] < 0.5).astype(int), y)
    sets = PredictionSets(Scorer(), ALPHA, "marginal", by="group").fit(X[:20], y[:20], groups=group[:20])
    pooled = PredictionSets(Scorer(), ALPHA, "marginal").fit(X[:20], y[:20])
    missed = _missed(sets, X[20:], y[20:], groups=group[20:])
    return _row("one row of a group", missed, _missed(pooled, X[20:], y[20:]))


def _after_training_rows(rng):
    """Thirty of the forty rows are training rows of the model; the twin counts them."""
    X, y = draw(rng, 41)
    model = Memory(X[:30], y[:30])
    new = PredictionSets(model, ALPHA, "marginal").fit(X[:40], y[:40], copies="leave_out")
    model.remembered_rows_ = None
    all_rows = PredictionSets(model, ALPHA, "marginal").fit(X[:40], y[:40])
    return _row("one row, training rows", _missed(new, X[40:], y[40:]), _missed(all_rows, X[40:], y[40:]))


def simulate_one_row(draws, seed=44):
    """Misses of the next row's label, of every form of the claim."""
    rng = np.random.default_rng(seed)
    rows = [
        [
            _plain(rng, "one row", "threshold"),
            _plain(rng, "one row, adaptive", "adaptive"),
            _of_class(rng),
            _of_group(rng),
            _after_training_rows(rng),
        ]
        for _ in range(draws)
    ]
    return collect(ALPHA, rows)
