"""Bounds at the sizes a forest produces: exact step size, growth, criterion, ledger, out-of-bag statistics.

There is no peer with these formulas; the peer is the plain loop or the general-purpose routine one would
write instead, run in turns with ours. Processor time of one thread.
"""

import math
import time

import numpy as np
from scipy.optimize import minimize_scalar

from surewood.bounds import (
    composite_complexity,
    composite_criterion_counts,
    composite_ledger,
    leaf_log_growth,
    margin_step,
    select_degrees,
    split_log_growth,
)
from surewood.bounds.margin import step_objective
from surewood.bounds.without_holdout import tandem_counts

REPEATS = 5


def interleaved(ours, peer):
    """Median milliseconds of both and the median of their ratios, run in turns."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        ours()
        middle = time.process_time()
        peer()
        times.append((middle - started, time.process_time() - middle))
    table = np.array(times) * 1e3
    return np.median(table[:, 0]), np.median(table[:, 1]), np.median(table[:, 1] / table[:, 0])


def row(name, ours, peer):
    mine, theirs, ratio = interleaved(ours, peer)
    print(f"{name:<58} {mine:>10.2f} {theirs:>10.2f} {ratio:>8.1f}", flush=True)


def looped_criterion(correct, errors, depth, degree, m, question):
    """One leaf after the other, as the formula reads."""
    total = 0.0
    for plus, minus, d, g in zip(correct, errors, depth, degree):
        vc = math.comb(16 + g, g)
        growth = m * math.log(2) if vc >= m else min(m * math.log(2), vc * math.log(math.e * m / vc))
        growth = math.log(2) if g == 0 else growth
        A = math.sqrt(2 * d * question / m) + math.sqrt(2 * growth / m)
        total += minus + min(16 * 1e-4 * m * A, plus)
    return total


def bench_step(n):
    rng = np.random.default_rng(0)
    z, g = rng.uniform(-0.5, 1, n), rng.normal(0.3, 0.4, n)

    def peer():
        search = {"bounds": (0, 1), "method": "bounded", "options": {"xatol": 1e-10}}
        minimize_scalar(lambda a: step_objective(a, z, g), **search)

    name = f"exact step, {n:,} margins (peer: bounded scalar search)"
    row(name, lambda: margin_step(z, g, alpha_max=1.0), peer)


def bench_leaves(n):
    rng = np.random.default_rng(1)
    correct, errors = rng.integers(0, 9, n), rng.integers(0, 3, n)
    depth, degree = rng.integers(1, 20, n), rng.integers(0, 10, n)
    m = int(correct.sum() + errors.sum())
    question = split_log_growth(m, 4, 16)

    def criterion():
        A = composite_complexity(depth, leaf_log_growth(degree, 16, m), question, m)
        return composite_criterion_counts(correct, errors, A, m=m, n_classes=2, gamma_scale=1e-4).sum()

    def ledger():
        tree = {"n_features": 16, "n_classes": 2, "max_features": 4, "gamma_scale": 1e-4}
        return composite_ledger(correct, errors, depth, degree, **tree).term

    def loop():
        return looped_criterion(correct, errors, depth, degree, m, question)

    assert math.isclose(criterion(), loop(), rel_tol=1e-9)
    row(f"growth and criterion, {n:,} leaves (peer: loop)", criterion, loop)
    row(f"ledger, {n:,} leaves (peer: loop of the criterion)", ledger, loop)
    T = rng.random((n, 9))
    row(
        f"degree selection, {n:,} leaves x 9 (peer: loop)",
        lambda: select_degrees(T),
        lambda: [min(range(9), key=line.__getitem__) for line in T.tolist()],
    )


def bench_tandem(members, m):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, m)
    predictions = np.where(rng.random((members, m)) < 0.9, y, 1 - y).astype(np.int8)
    in_bag = rng.random((members, m)) < 0.5

    def peer():
        wrong, free = predictions != y, ~in_bag
        for a in range(members):  # one row of pairs at a time; a loop over pairs is slower still
            common = free & free[a]
            common.sum(axis=1), (common & wrong & wrong[a]).sum(axis=1)

    name = f"tandem statistics, {members} members x {m:,} points (peer: masks)"
    row(name, lambda: tandem_counts(predictions, in_bag, y), peer)


def main(quick: bool = False) -> None:
    print(f"{'':<58} {'ours ms':>10} {'peer ms':>10} {'ratio':>8}")
    bench_step(100_000 if quick else 1_000_000)
    bench_leaves(10_000 if quick else 100_000)
    bench_tandem(50 if quick else 200, 5_000 if quick else 20_000)


if __name__ == "__main__":
    main()
