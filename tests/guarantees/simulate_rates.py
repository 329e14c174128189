"""Claims about rates, one certificate each, and what the page and the reject option guarantee (§11.1, §11.4).

Every certificate has one claim and therefore the whole delta; the broken twins give what was measured.
"""

from functools import cache

import numpy as np

from surewood import DeepCascadeSVMClassifier
from surewood.certify import Claim, certify
from surewood.report.facts import Predictions
from surewood.report.quality import abstention_facts, set_facts
from tests.guarantees.harness import collect
from tests.guarantees.simulate_certify import Threshold
from tests.guarantees.simulate_claims_in_use import Scorer, accepted_error_at, draw, miss_probability

DELTA = 0.1


def _rates(accuracy, recall, specificity, precision):
    """What the claims of these names are about."""
    return {
        "accuracy": accuracy,
        "balanced_accuracy": (recall + specificity) / 2,
        "f1:1": 2 * precision * recall / (precision + recall),
    }


SPECIFICITY = 0.95 / 1.05
TRUE_RATES = _rates(1 - 0.075, 0.9 / 0.95, SPECIFICITY, 0.9)


def simulate_rates(draws, seed=50, n=80):
    """Error, accuracy, false positive rate, balanced accuracy, F1 and the error in each group."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X = rng.normal(size=(n, 3))
        y = np.where(X[:, 0] > 0, rng.random(n) < 0.9, rng.random(n) < 0.05).astype(int)
        wrong = Threshold().predict(X) != y
        seen, specificity = _measured(X, y)
        row = [
            ("claim error", 0.075, _claim(X, y, "error").value, wrong.mean()),
            ("claim fpr", 1 - SPECIFICITY, _claim(X, y, "fpr:1").value, 1 - specificity),
        ]
        for name, true in TRUE_RATES.items():
            at_least = _claim(X, y, name).value
            row.append((f"claim {name.split(':')[0]}", 1 - true, 1 - at_least, 1 - seen[name]))
        side = np.where(X[:, 1] > 0, "left", "right")
        least = min(group.limit for group in _claim(X, y, Claim("error_by", by=side)).groups)
        row.append(
            ("claim error_by", 0.075, least, min(wrong[side == name].mean() for name in ("left", "right")))
        )
        rows.append(row)
    return collect(DELTA, rows)


def _claim(X, y, name):
    """The only guarantee of a certificate with this claim."""
    (entry,) = certify(Threshold(), X, y, claims=name, delta=DELTA).guarantees
    return entry


def _measured(X, y):
    predicted = Threshold().predict(X)
    recall = (predicted == 1)[y == 1].mean()
    specificity = (predicted == 0)[y == 0].mean()
    precision = (y == 1)[predicted == 1].mean()
    return _rates((predicted == y).mean(), recall, specificity, precision), specificity


def simulate_page(draws, seed=51, n=400):
    """All levels of abstention and all coverages of sets that a page shows; the twins measure them."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X, y = draw(rng, n)
        judged = Predictions(Scorer(), X, y)
        s, limit = X[:, 0], certify(Scorer(), X, y, delta=DELTA).best.value
        shown = abstention_facts(Scorer(), judged, limit, DELTA, "check") or {"levels": []}
        false = any(accepted_error_at(level["threshold"]) > level["error"] for level in shown["levels"])
        wrong, sure = (s >= 0.5) != y, np.maximum(s, 1 - s)
        grid = [t for t in np.linspace(0.5, 0.9, 41) if wrong[sure >= t].mean() <= 0.25]
        naive = bool(grid) and accepted_error_at(grid[0]) > 0.25
        sets = set_facts(Scorer(), judged, DELTA, "check")["levels"]
        missed = any(miss_probability(one["threshold"]) > 1 - one["coverage"] + 1e-9 for one in sets)
        own = np.where(y == 1, s, 1 - s)
        plain = any(miss_probability(np.quantile(own, alpha)) > alpha for alpha in (0.1, 0.2))
        rows.append([("page abstention", *_event(false, naive)), ("page sets", *_event(missed, plain))])
    return collect(DELTA, rows)


def _event(violated, twin):
    """Risk, bound and broken bound of something that is kept or not."""
    return 0.5, 0.0 if violated else 0.5, 0.0 if twin else 0.5


def _reject_rows(rng, n):
    X = rng.normal(size=(n, 2))
    chance = 1.0 / (1.0 + np.exp(-4.0 * X[:, 0] - 2.0 * X[:, 0] * X[:, 1]))
    return X, (rng.random(n) < chance).astype(int)


@cache
def _rejecting():
    """A cascade, and the true error of each of its groups."""
    rng = np.random.default_rng(0)
    model = DeepCascadeSVMClassifier(max_leaves=3, n_leaves=3, degrees=(1, 2), random_state=0)
    model.fit(*_reject_rows(rng, 200))
    groups = model.reject_option(1.0, *_reject_rows(rng, 200_000), bands=2).groups
    return model, (groups["errors"] / groups["points"].clip(lower=1)).to_numpy()


def simulate_reject_option(draws, seed=52, n=150):
    """Errors of all leaves of a cascade together; the broken twin gives what was measured."""
    rng = np.random.default_rng(seed)
    model, true_error = _rejecting()
    rows = []
    for _ in range(draws):
        groups = model.reject_option(0.2, *_reject_rows(rng, n), delta=DELTA, bands=2).groups
        limits = groups["upper_bound"].to_numpy()
        measured = (groups["errors"] / groups["points"].clip(lower=1)).to_numpy()
        event = _event((limits < true_error).any(), (measured < true_error).any())
        rows.append([("reject option", *event)])
    return collect(DELTA, rows)
