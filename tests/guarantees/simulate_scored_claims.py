"""Claims about rates, losses and scores where the law is known, and the betting limit behind them (§11.3).

The model is that of `simulate_claims_in_use`: its probability of class 1 is uniform on [0, 1], and the true
one is 0.1 + 0.7 times that. Every true value is an integral. Rates and losses have what was measured as their
broken twin.
"""

import numpy as np
from scipy import stats

from surewood.bounds import betting_upper_limit, clopper_pearson_lower
from surewood.certify import Claim, certify
from tests.guarantees.harness import collect
from tests.guarantees.simulate_claims_in_use import Scorer, draw

DELTA = 0.1
COST = np.array([[-1.0, 2.0], [5.0, -3.0]])
S = (np.arange(200_000) + 0.5) / 200_000  # the model's probability of class 1
P = 0.1 + 0.7 * S  # the true one
RECALL, SPECIFICITY = (P * (S >= 0.5)).sum() / P.sum(), ((1 - P) * (S < 0.5)).sum() / (1 - P).sum()
PRECISION, NPV = P[S >= 0.5].mean(), 1 - P[S < 0.5].mean()
AUC = (P * np.cumsum(1 - P)).sum() / (P.sum() * (1 - P).sum())
ECE = sum(abs((S - P)[(S * 10).astype(int) == k].sum()) for k in range(10)) / S.size


def mcc(recall, specificity, precision, npv):
    rates = np.array([recall, specificity, precision, npv])
    return np.sqrt(rates.prod()) - np.sqrt((1 - rates).prod())


def clipped(probability):
    return -np.log(np.maximum(probability, 0.001))


TRUE_LOSS = (P * clipped(S) + (1 - P) * clipped(1 - S)).mean()
TRUE_COST = (P * COST[1, (S >= 0.5).astype(int)] + (1 - P) * COST[0, (S >= 0.5).astype(int)]).mean()


def simulate_scored_claims(draws, seed=60, n=120):
    """Specificity, NPV, MCC, log-loss, a cost with gains, and AUC, whose twin takes pairs as independent."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X, y = draw(rng, n)
        s, predicted = X[:, 0], (X[:, 0] >= 0.5).astype(int)

        def at_least(claim, true, measured, X=X, y=y):
            return f"claim {claim}", 1 - true, 1 - _limit(X, y, f"{claim}:1"), 1 - measured

        specificity, npv = (predicted[y == 0] == 0).mean(), (y[predicted == 0] == 0).mean()
        recall, precision = predicted[y == 1].mean(), y[predicted == 1].mean()
        won = (s[y == 1][:, None] > s[y == 0]).ravel()
        pairs = clopper_pearson_lower(int(won.sum()), won.size, delta=DELTA)
        loss, cost = clipped(np.where(y, s, 1 - s)).mean(), COST[y, predicted].mean()
        rows.append(
            [
                at_least("specificity", SPECIFICITY, specificity),
                at_least("npv", NPV, npv),
                at_least(
                    "mcc", mcc(RECALL, SPECIFICITY, PRECISION, NPV), mcc(recall, specificity, precision, npv)
                ),
                at_least("auc", AUC, pairs),
                ("claim log_loss", TRUE_LOSS / 7, _limit(X, y, "log_loss") / 7, loss / 7),
                # costs as fractions of their range
                (
                    "negative costs",
                    *((value + 3) / 8 for value in (TRUE_COST, _limit(X, y, _COST_CLAIM), cost)),
                ),
            ]
        )
    return collect(DELTA, rows)


_COST_CLAIM = Claim("cost", cost=COST)


def _limit(X, y, claim):
    (entry,) = certify(Scorer(), X, y, claims=claim, delta=DELTA).guarantees
    return entry.value


def simulate_calibration(draws, seed=61, n=1500):
    """The broken twin has one bin, in which errors of different sign cancel."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        X, y = draw(rng, n)
        cancelled = 2 * betting_upper_limit((1 + X[:, 0] - y) / 2, delta=DELTA) - 1
        rows.append([("claim calibration", ECE, _limit(X, y, "calibration:1"), cancelled)])
    return collect(DELTA, rows)


def simulate_betting(draws, seed=62, n=60):
    """The limit on laws where it is nearly exact; broken bets know the next value or have several tries."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(draws):
        rare, spread = 0.7 * (rng.random(n) < 0.2), rng.beta(0.5, 2.0, n)
        tries = [betting_upper_limit(rng.permutation(rare), delta=DELTA) for _ in range(8)]
        rows.append(
            [
                ("betting, best of eight orders", 0.14, betting_upper_limit(rare, delta=DELTA), min(tries)),
                (
                    "betting, values sorted",
                    stats.beta(0.5, 2.0).mean(),
                    betting_upper_limit(spread, delta=DELTA),
                    betting_upper_limit(np.sort(spread), delta=DELTA),
                ),
            ]
        )
    return collect(DELTA, rows)
