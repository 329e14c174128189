"""Evidence over time: against slow loops, resumable, rarely wrong, and able to see a doubled error."""

import math

import numpy as np
import pytest

from surewood.bounds import error_sequence
from surewood.bounds.monitoring import _EXPONENTS, _FRACTIONS, ErrorEvidence, ShiftEvidence


def slow_capital(losses, u):
    products, path = [1.0] * len(_FRACTIONS), []
    for z in losses:
        products = [product * (1 + f / u * (z - u)) for product, f in zip(products, _FRACTIONS)]
        path.append(math.log(sum(products) / len(products)))
    return path


def test_error_capital_equals_the_loop_and_resumes():
    losses = np.random.default_rng(0).random(80) < 0.3
    path = ErrorEvidence(0.2).update(losses)
    assert path == pytest.approx(slow_capital(losses, 0.2))
    first = ErrorEvidence(0.2)
    start = first.update(losses[:31])
    rest = ErrorEvidence(0.2, first.log_capital).update(losses[31:])
    assert np.concatenate([start, rest]) == pytest.approx(path)


def test_false_alarms_are_rare_although_one_looks_after_every_row():
    rng = np.random.default_rng(1)
    alarms = sum(ErrorEvidence(0.1).update(rng.random(600) < 0.1).max() >= math.log(10) for _ in range(400))
    assert alarms <= 400 * 0.1 + 3 * math.sqrt(400 * 0.09)


@pytest.mark.parametrize(("u", "rows"), [(0.01, 4000), (0.05, 1200), (0.2, 400)])
def test_a_doubled_error_is_seen(u, rows):
    rng = np.random.default_rng(2)
    paths = [ErrorEvidence(u).update(rng.random(rows) < 2 * u) for _ in range(20)]
    assert sum(path.max() >= math.log(20) for path in paths) >= 18


def test_confidence_sequence_inverts_the_same_capital():
    low, high = error_sequence(30, 200, alpha=0.1)
    losses = np.r_[np.ones(30), np.zeros(170)]
    assert slow_capital(losses, low)[-1] == pytest.approx(math.log(20), abs=1e-6)
    assert slow_capital(1 - losses, 1 - high)[-1] == pytest.approx(math.log(20), abs=1e-6)
    assert error_sequence(0, 0) == (0.0, 1.0)


def slow_p_values(holdout, new, uniforms):
    seen, result = list(holdout), []
    for score, uniform in zip(new, uniforms):
        seen.append(score)
        below, equal = sum(s < score for s in seen), sum(s == score for s in seen)
        result.append((below + uniform * equal) / len(seen))
    return result


def test_conformal_ranks_equal_the_loop_with_ties_and_batches():
    rng = np.random.default_rng(3)
    holdout, new, uniforms = rng.integers(0, 9, 40) / 9, rng.integers(0, 9, 700) / 9, rng.random(700)
    evidence = ShiftEvidence(holdout)
    p = np.concatenate(
        [evidence.p_values(new[a:b], uniforms[a:b]) for a, b in ((0, 5), (5, 300), (300, 700))]
    )
    assert p == pytest.approx(slow_p_values(holdout, new, uniforms))


def test_shift_capital_is_the_mixture():
    rng = np.random.default_rng(4)
    evidence = ShiftEvidence(rng.random(50))
    twin = ShiftEvidence(counts=evidence.counts)
    new, uniforms = rng.random(30), rng.random(30)
    p = twin.p_values(new, uniforms)
    products = np.prod([e * p ** (e - 1) for e in _EXPONENTS], axis=1)
    assert evidence.update(new, uniforms)[-1] == pytest.approx(math.log(products.mean()))


def test_losses_between_0_and_1_equal_the_loop():
    losses = np.random.default_rng(5).random(60)
    assert ErrorEvidence(0.4).update(losses) == pytest.approx(slow_capital(losses, 0.4))


def test_shift_resumes_from_its_state():
    rng = np.random.default_rng(6)
    holdout, new, uniforms = rng.random(80), rng.random(700), rng.random(700)
    whole = ShiftEvidence(holdout).update(new, uniforms)
    first = ShiftEvidence(holdout)
    start = first.update(new[:301], uniforms[:301])
    again = ShiftEvidence(counts=first.counts, n_seen=first.n_seen, log_p_sum=first.log_p_sum)
    assert np.concatenate([start, again.update(new[301:], uniforms[301:])]) == pytest.approx(whole)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="counts must have 10001 entries, got 3"):
        ShiftEvidence(counts=[1, 2, 3])
    with pytest.raises(ValueError, match=r"scores must be in \[0, 1\], got 2"):
        ShiftEvidence([0.5]).update([2.0], [0.5])
    with pytest.raises(ValueError, match=r"at_most must be in \(0, 1\), got 0"):
        ErrorEvidence(0)
    with pytest.raises(ValueError, match="log_capital must have 24 entries, got 2"):
        ErrorEvidence(0.1, np.zeros(2))
    with pytest.raises(ValueError, match="errors must be <= n=3, got 4"):
        error_sequence(4, 3)
