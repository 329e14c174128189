"""The count of violations itself: silent for an honest bound, loud for a broken one."""

import numpy as np

from tests.guarantees.harness import Trials, alarms, p_value


def trials(bound, draws=2000, delta=0.1):
    rng = np.random.default_rng(0)
    errors = rng.binomial(100, 0.3, draws) / 100
    values = {"bound": bound(errors)}
    return Trials(delta, {"bound": np.full(draws, 0.3)}, values, values)


def test_p_value_is_the_upper_tail():
    assert p_value(0, 100, 0.1) == 1.0
    assert p_value(30, 100, 0.1) < 1e-6


def test_an_honest_bound_passes():
    assert alarms(trials(lambda errors: errors + np.sqrt(np.log(10) / 200))) == {}


def test_a_bound_without_its_confidence_term_is_caught():
    assert alarms(trials(lambda errors: errors))["bound"] > 0.3


def test_a_bound_at_twice_its_delta_is_caught():
    quantile = np.quantile(np.random.default_rng(0).binomial(100, 0.3, 2000) / 100, 0.2)
    assert alarms(trials(lambda errors: errors - quantile + 0.3 - 1e-9))["bound"] > 0.15
