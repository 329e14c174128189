"""Thresholds, sets, monitors and comparisons as users call them, against known laws (theory.md §11.4-11.7).

The model is fixed: its probability of class 1 is the first column, and the true law is known, so that every
true rate is an integral. Each simulation has a broken twin.
"""

import numpy as np
from scipy import stats

from surewood.base.remembered import RememberedRows
from surewood.bounds import clopper_pearson
from surewood.bounds.monitoring import ShiftEvidence
from surewood.certify import Monitor, NoThresholdError, PredictionSets, compare_models, find_threshold
from tests.guarantees.harness import collect

DELTA = 0.1


class Scorer:
    """Gives the first column as the probability of class 1."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        return np.c_[1 - p, p]

    def predict(self, X):
        return (np.asarray(X)[:, 0] >= 0.5).astype(int)


def draw(rng, n):
    """Scores are uniform; class 1 has probability 0.1 + 0.7 s: overconfident at both ends."""
    s = rng.random(n)
    return np.c_[s, rng.random(n)], (rng.random(n) < 0.1 + 0.7 * s).astype(int)


def precision_at(t):
    """True precision of "score at least t"."""
    return 0.1 + 0.35 * (1 + t)


def recall_at(t):
    """True recall of "score at least t"."""
    return (1 - t) * precision_at(t) / precision_at(0.0)


def accepted_error_at(t):
    """True error among rows whose larger probability is at least t (t >= 1/2)."""
    high = (1 + max(t, 0.5)) / 2
    return 0.5 * ((1 - 0.1 - 0.7 * high) + (0.1 + 0.7 * (1 - high)))


PROMISES = {
    "precision": (0.7, lambda t: 1 - precision_at(t), 0.3),
    "recall": (0.8, lambda t: 1 - recall_at(t), 0.2),
    "fpr": (0.2, lambda t: (1 - t) * (1 - precision_at(t)) / (1 - precision_at(0.0)), 0.2),
    "accepted_error": (0.25, accepted_error_at, 0.25),
}


def best_looking(name, X, y, at_most):
    """The broken twin: the most useful threshold whose observed rate looks good enough."""
    s = X[:, 0]
    score = np.maximum(s, 1 - s) if name == "accepted_error" else s
    grid = np.linspace(0.99, 0.5 if name == "accepted_error" else 0.01, 50)
    rates = []
    for t in grid:
        above = score >= t
        if name == "precision":
            rates.append(1 - y[above].mean() if above.any() else 1.0)
        elif name == "recall":
            rates.append(1 - above[y == 1].mean())
        elif name == "fpr":
            rates.append(above[y == 0].mean())
        else:
            rates.append(((s >= 0.5) != y)[above].mean() if above.any() else 1.0)
    good = np.flatnonzero(np.array(rates) <= at_most)
    if not good.size:
        return None
    return grid[good[0] if name == "recall" else good[-1]]


def simulate_found_thresholds(draws, seed=40, n=500):
    """True failure rate at the threshold that was found; the twin takes the best-looking one."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X, y = draw(rng, n)
        row = []
        for name, (value, risk, at_most) in PROMISES.items():
            try:
                found = risk(find_threshold(Scorer(), X, y, delta=DELTA, **{name: value}).threshold)
            except NoThresholdError:
                found = 0.0
            naive = best_looking(name, X, y, at_most)
            lax = 0.0 if naive is None else risk(naive)
            row.append(_twin(f"found {name}", found, lax, at_most))
        rows.append(row)
    return collect(DELTA, rows)


def miss_probability(q):
    """Probability that a set {label: probability at least q} misses the label, for q at most 1/2."""
    q = float(np.clip(q, 0.0, 0.5))
    s = np.linspace(0, q, 400)
    return float(np.trapezoid(0.3 + 1.4 * s, s)) if q else 0.0


def miss_of_class_0(q):
    """The same for rows of class 0, whose probability is 1 - s."""
    q = float(np.clip(q, 0.0, 0.9))
    s = np.linspace(1 - q, 1, 400)
    return float(np.trapezoid(1 - 0.1 - 0.7 * s, s)) / 0.55 if q else 0.0


def _twin(name, risk, broken_risk, limit):
    """A row of the harness where the limit is fixed and the twin has another risk."""
    return name, risk, limit, limit - (broken_risk - risk)


def simulate_prediction_sets(draws, seed=41, n=400, alpha=0.1):
    """Coverage of PAC sets; the twins are one rank off, or marginal sets taken for PAC ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X, y = draw(rng, n)
        few = slice(0, 22)  # where one rank more is clearly too much
        scores = np.sort(Scorer().predict_proba(X)[np.arange(n), y][few])
        smallest = PredictionSets(Scorer(), alpha, delta=DELTA).fit(X[few], y[few]).thresholds_[0]
        q = PredictionSets(Scorer(), alpha, delta=DELTA).fit(X, y).thresholds_[0]
        marginal = PredictionSets(Scorer(), alpha, "marginal").fit(X, y).thresholds_[0]
        later = scores[int(np.searchsorted(scores, smallest)) + 1]
        classes = PredictionSets(Scorer(), alpha, by="class", delta=DELTA).fit(X, y)
        own, plain = classes.thresholds_[0], np.quantile(1 - X[y == 0, 0], alpha)
        side = (X[:, 1] > 0.5).astype(int)
        groups = PredictionSets(Scorer(), alpha, by="group", delta=DELTA).fit(X, y, groups=side)
        truth = np.where(y == 1, X[:, 0], 1 - X[:, 0])
        quantiles = [np.quantile(truth[side == g], alpha) for g in (0, 1)]
        rows.append(
            [
                _twin("quantile", miss_probability(smallest), miss_probability(later), alpha),
                _twin("marginal", miss_probability(q), miss_probability(marginal), alpha),
                _twin("class", miss_of_class_0(own), miss_of_class_0(plain), alpha),
                _twin(
                    "group",
                    max(map(miss_probability, groups.thresholds_)),
                    max(map(miss_probability, quantiles)),
                    alpha,
                ),
            ]
        )
    return collect(DELTA, rows)


def simulate_monitors(draws, seed=42, n=300, u=0.2):
    """False alarms over 15 looks; the twins test anew each time, rank among the holdout or break no ties."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        errors, holdout, scores = rng.random(n) < u, rng.random(15), rng.random(n)
        monitor = Monitor(u, holdout_scores=holdout, alpha=DELTA, seed=int(rng.integers(1 << 31)))
        for part in range(0, n, 20):
            look = monitor.add(errors=errors[part : part + 20], scores=scores[part : part + 20])
        few = [np.where(rng.random(size) < 0.5, 0.6, 0.9) for size in (15, *[20] * (n // 20))]
        watched = Monitor(None, holdout_scores=few[0], alpha=DELTA)
        ranked = [watched.add(scores=part).shift_alarm for part in few[1:]][-1]
        untied = ShiftEvidence(few[0]).update(np.concatenate(few[1:]), np.zeros(n)).max() >= -np.log(DELTA)
        counts = np.cumsum(errors)
        fixed = any(1 - clopper_pearson(t - counts[t - 1], t, delta=DELTA) > u for t in range(20, n + 1, 20))
        p = (rng.random(n) + (holdout[None, :] < scores[:, None]).sum(axis=1)) / 16
        eps = (np.arange(32) + 0.5) / 32
        paths = np.cumsum(np.log(eps) + (eps - 1) * np.log(p)[:, None], axis=0)
        alone = np.log(np.exp(paths).mean(axis=1)).max() >= -np.log(DELTA)
        rows.append(
            [
                ("error alarm", u, 0.0 if look.error_alarm else u, 0.0 if fixed else u),
                ("shift alarm", u, 0.0 if look.shift_alarm else u, 0.0 if alone else u),
                ("scores of two values", u, 0.0 if ranked else u, 0.0 if untied else u),
                ("confidence sequence", *_sequence(monitor, u, errors)),
            ]
        )
    return collect(DELTA, rows)


def _sequence(monitor, u, errors):
    """Whether the limits ever excluded the true error at a look; the twin: two-sided limits of one look."""
    points = [point for point in monitor.state.path if "lower" in point]
    missed = any(not point["lower"] <= u <= point["upper"] for point in points)
    counts = np.cumsum(errors)
    fixed = any(
        clopper_pearson(int(counts[t - 1]), t, delta=DELTA / 2) < u
        or 1 - clopper_pearson(int(t - counts[t - 1]), t, delta=DELTA / 2) > u
        for t in range(20, errors.size + 1, 20)
    )
    return u, 0.0 if missed else u, 0.0 if fixed else u


class HalfZeros(Scorer):
    """Was trained on a table in which half of the rows are all zeros, and which was entered so many times."""

    def __init__(self, times, of_zeros):
        self.of_zeros = of_zeros
        rng = np.random.default_rng(7)
        active = rng.random((400, 1)) * (rng.random((400, 1)) < 0.5)
        rows = np.c_[active, np.zeros(400)]
        self.remembered_rows_ = RememberedRows.from_table(np.tile(rows, (times, 1)))

    def predict_proba(self, X):
        p = np.where(X[:, 0] == 0, self.of_zeros, 0.5 + 0.4 * X[:, 0])
        return np.column_stack([p, 1 - p])


HALF_ZEROS = {"watched batches": HalfZeros(2, 0.95), "batches of half zeros": HalfZeros(1, 0.51)}


def simulate_watched_batches(draws, seed=44, n=150):
    """False shift alarms where the table looks copied and where it is ordinary; twins rank among other rows.

    Of the copied table, rows that equal a training row are left out, and the twin ranks among all rows. Of
    the ordinary one all rows count, and the twin ranks among contents.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = np.c_[rng.random(2 * n) * (rng.random(2 * n) < 0.5), np.zeros(2 * n)]
        seed = int(rng.integers(1 << 31))
        row = []
        for name, model in HALF_ZEROS.items():
            ranked = X[:n] if name == "watched batches" else np.unique(X[:n], axis=0)
            scores = model.predict_proba(ranked).max(axis=1)
            watched = Monitor(0.4, model=model, holdout=X[:n], alpha=DELTA, seed=seed)
            twin = Monitor(0.4, model=model, holdout_scores=scores, alpha=DELTA, seed=seed)
            alarms = [one.update(X[n:]).shift_alarm for one in (watched, twin)]
            row.append((name, 0.4, *(0.0 if alarm else 0.4 for alarm in alarms)))
        rows.append(row)
    return collect(DELTA, rows)


class Coin:
    """Predicts a column."""

    classes_ = np.array([0, 1])

    def __init__(self, column):
        self.column = column

    def predict(self, X):
        return (np.asarray(X)[:, self.column] > 0.5).astype(int)


def simulate_two_models(draws, seed=43, n=200):
    """Guaranteed differences of two models that are equally good; the twin is the plain difference."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        y = rng.integers(0, 2, n)
        right = rng.random((n, 2)) < 0.8
        X = np.where(right, y[:, None], 1 - y[:, None]) * 0.8 + 0.2 * rng.random((n, 2))
        found = compare_models(Coin(0), Coin(1), X, y, delta=DELTA)
        value = found.guarantees[0].value if found.guarantees else 0.0
        observed = found.entries[0].decomposition["observed"]
        standard = stats.norm.ppf(1 - DELTA) * np.sqrt(2 * 0.16 / n)
        # the true difference is 0: a positive lower limit is a violation
        rows.append([("two models", 0.5, 0.5 - value, 0.5 - max(0.0, observed - standard))])
    return collect(DELTA, rows)
