"""Counting violations: a bound passes when its share of violations exceeds delta by chance at most."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

ALARM = 1e-3  # p-value below which an excess of violations is no accident


@dataclass
class Trials:
    """Bounds by name and the true risks of the same classifiers, one a draw; `broken` must be caught."""

    delta: float
    risks: dict[str, np.ndarray]
    bounds: dict[str, np.ndarray]
    broken: dict[str, np.ndarray]

    def violations(self, name, values):
        return int(np.count_nonzero(self.risks[name] > values + 1e-12))


def p_value(violations, draws, delta):
    """Probability of at least so many violations if each had probability delta."""
    return float(stats.binom.sf(violations - 1, draws, delta))


def alarms(trials, kind="bounds"):
    """Names whose violations are too many for delta, with the share of violations."""
    found = {}
    for name, values in getattr(trials, kind).items():
        violations = trials.violations(name, values)
        if p_value(violations, values.size, trials.delta) < ALARM:
            found[name] = violations / values.size
    return found


def collect(delta, rows):
    """Join rows of (name, risk, bound, broken bound)."""
    risks, bounds, broken = {}, {}, {}
    for row in rows:
        for name, risk, bound, wrong in row:
            risks.setdefault(name, []).append(risk)
            bounds.setdefault(name, []).append(bound)
            broken.setdefault(name, []).append(wrong)
    tables = [{name: np.array(values) for name, values in part.items()} for part in (risks, bounds, broken)]
    return Trials(delta, *tables)


class Speaker:
    """A model whose only talent is the evidence it offers."""

    def __init__(self, *evidence):
        self.evidence = evidence

    def predict(self, X):
        raise AssertionError("the evidence is enough")

    def __certificate_evidence__(self):
        return self.evidence
