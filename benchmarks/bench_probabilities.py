"""Log-loss of every family's default probabilities beside scikit-learn's random forest of the same size.

Size is the number of trees where there are trees. Splits are drawn at random, the same for everybody; large
sets are cut to a stated number of training rows, because one slow family should not hide the others. Ratios
below 1 mean that ours is better. Plain scikit-learn forests give a class without votes the probability 0:
their log-loss is therefore also shown with a floor of half a vote, which is the fairer peer.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.forest_data import load

SETS = {"vehicle": None, "german_numeric": None, "letter": 6000, "adult": 6000}
TEST_ROWS = 5000


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, whatever its official split."""
    X, y, X_test, y_test = load(name)
    return np.vstack([X, X_test]).astype(np.float64), np.concatenate([y, y_test])


def floored(proba: np.ndarray, n_trees: int) -> np.ndarray:
    """Probabilities of at least half a vote."""
    lifted = np.maximum(proba, 0.5 / n_trees)
    return lifted / lifted.sum(axis=1, keepdims=True)


def ours(n_trees: int, seed: int) -> dict[str, object]:
    from surewood import (
        BinnedForestClassifier,
        CascadeForestClassifier,
        DeepCascadeSVMClassifier,
        MarginDeepForestClassifier,
        PolySVC,
        RandomCompositeForestClassifier,
    )

    return {
        "BinnedForest": BinnedForestClassifier(n_trees, random_state=seed),
        "CompositeForest": RandomCompositeForestClassifier(n_trees, random_state=seed),
        # four forests in five folds: this many trees a layer in all
        "MarginDeepForest": MarginDeepForestClassifier(max(n_trees // 20, 1), random_state=seed),
        "CascadeForest": CascadeForestClassifier(max(n_trees // 20, 1), random_state=seed),
        "DeepCascadeSVM": DeepCascadeSVMClassifier(random_state=seed),
        "PolySVC": PolySVC(),
    }


SLOW = {("DeepCascadeSVM", "letter"), ("DeepCascadeSVM", "adult")}  # minutes: a machine for every prefix


def measure(name: str, n_trees: int, seed: int, only: list[str] | None) -> list[dict[str, object]]:
    X, y = read(name)
    n_train = SETS[name]
    X, X_test, y, y_test = train_test_split(X, y, train_size=n_train or 0.7, stratify=y, random_state=seed)
    X_test, y_test = X_test[:TEST_ROWS], y_test[:TEST_ROWS]
    forest = RandomForestClassifier(n_trees, random_state=seed).fit(X, y)
    proba = forest.predict_proba(X_test)
    labels = forest.classes_
    peer = log_loss(y_test, proba, labels=labels)
    fair = log_loss(y_test, floored(proba, n_trees), labels=labels)
    rows = [_row(name, f"sklearn forest, {n_trees} trees", y_test, proba, labels, peer, fair, 0.0)]
    models = {k: m for k, m in ours(n_trees, seed).items() if only is None or k in only}
    scaler = StandardScaler().fit(X)
    if only is None or "PolySVC" in only:
        svc = SVC(kernel="poly", coef0=1.0, probability=True, random_state=seed).fit(scaler.transform(X), y)
        proba = svc.predict_proba(scaler.transform(X_test))
        rows.append(_row(name, "sklearn SVC, Platt", y_test, proba, labels, peer, fair, 0.0))
    for kind, model in models.items():
        if (kind, name) in SLOW:
            continue
        started = time.perf_counter()
        proba = model.fit(X, y).predict_proba(X_test)
        seconds = time.perf_counter() - started
        rows.append(_row(name, kind, y_test, proba, labels, peer, fair, seconds))
        print(rows[-1], flush=True)
    return rows


def _row(name, model, y, proba, labels, peer, fair, seconds):
    loss = log_loss(y, proba, labels=labels)
    return {
        "set": name,
        "model": model,
        "log-loss": loss,
        "/ forest": loss / peer,
        "/ floored": loss / fair,
        "accuracy": 100 * accuracy_score(y, np.asarray(labels)[proba.argmax(axis=1)]),
        "seconds": seconds,
    }


def main(quick: bool = False, sets=None, only=None, repeats: int | None = None, n_trees: int = 100) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in sets or SETS:
        for seed in range(repeats or (1 if quick else 3)):
            rows += measure(name, n_trees, seed, only)
    frame = pd.DataFrame(rows)
    mean = frame.groupby(["set", "model"], sort=False).mean(numeric_only=True)
    print(mean.to_string(float_format=lambda v: f"{v:.4f}"))


if __name__ == "__main__":
    main()
