"""Contributions of a composite forest beside shap's permutation explainer; seconds of every default.

Both explain the same rows against the same background. Their times at default settings are one ratio; the
error of each, against a long run of ours, tells what it buys. The ratio at equal accuracy scales our time by
the square of the ratio of errors (the error of a mean of orders falls with the square root of their number).
shap is timed on fewer rows, in turns with ours.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_classification

N_BACKGROUND = 100


def table(n_rows: int = 1100) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n_rows, 20, n_informative=8, n_classes=3, random_state=0)


def beside_shap(quick: bool) -> None:
    import shap

    from surewood import RandomCompositeForestClassifier

    X, y = table()
    model = RandomCompositeForestClassifier(20 if quick else 100, random_state=0).fit(X[:1000], y[:1000])
    background, rows = X[:N_BACKGROUND], X[1000 : 1002 if quick else 1006]
    explainer = shap.PermutationExplainer(model.predict_proba, background, seed=0)
    truth = model.contributions(rows, background, n_orders=N_BACKGROUND, random_state=1).values
    truth = np.mean(
        [truth]
        + [
            model.contributions(rows, background, n_orders=N_BACKGROUND, random_state=s).values
            for s in range(2, 4 if quick else 10)
        ],
        axis=0,
    )
    ours, theirs, our_values, their_values = [], [], [], []
    many = X[1000:1100]
    for _ in range(1 if quick else 3):
        started = time.perf_counter()
        found = model.contributions(many, background)
        ours.append((time.perf_counter() - started) / len(many))
        our_values.append(found.values[: len(rows)])
        started = time.perf_counter()
        their_values.append(explainer(rows, silent=True).values)
        theirs.append((time.perf_counter() - started) / len(rows))
    error = [float(np.sqrt(np.mean((np.array(v) - truth) ** 2))) for v in (our_values, their_values)]
    ratio = np.median(theirs) / np.median(ours)
    print(f"{len(many)} rows of 20 columns, background of {N_BACKGROUND} rows, {model.n_estimators} trees")
    print(f"surewood   {1e3 * np.median(ours):8.1f} ms per row, error {error[0]:.4f}")
    print(f"shap       {1e3 * np.median(theirs):8.1f} ms per row, error {error[1]:.4f}")
    print(f"ratio of times {ratio:.1f}; at equal error {ratio * (error[1] / error[0]) ** 2:.1f}", flush=True)


def every_default(quick: bool) -> None:
    import surewood

    X, y = table()
    names = ["BinnedForestClassifier", "RandomCompositeForestClassifier", "MarginDeepForestClassifier"]
    for name in names[:1] if quick else [*names, "SurewoodClassifier"]:
        model = getattr(surewood, name)(random_state=0).fit(X[:1000], y[:1000])
        started, cpu = time.perf_counter(), time.process_time()
        found = model.contributions(X[1000:])
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        told = (
            f"standard error {found.standard_error.mean():.4f}, mean size {np.abs(found.values).mean():.4f}"
        )
        print(f"{name}: 100 rows in {seconds:.2f} s ({cpu:.2f} s of processor time), {told}", flush=True)


def main(quick: bool = False) -> None:
    beside_shap(quick)
    every_default(quick)


if __name__ == "__main__":
    main()
