"""The classifier to start with beside its members and the peers people know.

    python -m benchmarks.study_flagship run --out study.csv            # all tables, two divisions each
    python -m benchmarks.study_flagship run --out study.csv --repeats 5 --sets sonar vehicle
    python -m benchmarks.study_flagship table --out study.csv          # Markdown tables from the rows so far

Divisions are random and chose nothing: all methods run with their defaults (LightGBM and XGBoost with 300
rounds, CatBoost and EBM as they come, SVC with C and gamma by 3-fold cross-validation). At most 4,000 rows
train, at most 4,000 test. Rows are appended one by one; those that are there already are not computed again.
Times are processor seconds of the fit, one thread for everybody.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from benchmarks.study_files import option_parser
from surewood import MarginDeepForestClassifier, RandomCompositeForestClassifier, SurewoodClassifier
from surewood.datasets import load
from surewood.tables import TablePreparer
from surewood.workflow.peers import PeerClassifier

SETS = (
    "sonar", "iris", "ionosphere", "vehicle", "vowel", "australian", "breast_cancer", "german_numeric",
    "yeast", "a1a", "splice", "dna", "abalone", "satimage", "pendigits", "letter", "usps", "adult", "har",
    "protein_val",
)  # fmt: skip
MOST_ROWS = 4000
LEAST_OF_A_CLASS = 5
FIELDS = ("set", "repeat", "method", "error", "log_loss", "brier", "auc", "fit_s", "n_train", "n_test")
OURS = {
    "surewood": lambda seed: SurewoodClassifier(random_state=seed, n_jobs=1),
    "composite forest": lambda seed: RandomCompositeForestClassifier(random_state=seed, n_jobs=1),
    "margin forest": lambda seed: MarginDeepForestClassifier(random_state=seed, n_jobs=1),
}


def peers() -> dict[str, tuple[Callable[[int], Any], bool]]:
    """Name -> (estimator, whether it takes categories)."""
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )

    found: dict[str, tuple[Callable[[int], Any], bool]] = {
        "random forest": (lambda s: RandomForestClassifier(500, random_state=s, n_jobs=1), False),
        "extra-trees": (lambda s: ExtraTreesClassifier(500, random_state=s, n_jobs=1), False),
        "hist. boosting": (
            lambda s: HistGradientBoostingClassifier(random_state=s, categorical_features="from_dtype"), True,
        ),
        "tuned SVC": (lambda s: _tuned_svc(s), False),
    }  # fmt: skip
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        rounds = {"n_estimators": 300, "n_jobs": 1}
        found["LightGBM"] = (lambda s: LGBMClassifier(random_state=s, verbose=-1, **rounds), True)
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        options = {"n_estimators": 300, "n_jobs": 1, "enable_categorical": True}
        found["XGBoost"] = (lambda s: XGBClassifier(random_state=s, **options), True)
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
        found["CatBoost"] = (lambda s: CatBoostClassifier(random_seed=s, **quiet), False)
    if find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        found["EBM"] = (lambda s: ExplainableBoostingClassifier(random_state=s, n_jobs=1), False)
    return found


def _tuned_svc(seed: int) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": ["scale", 0.01, 0.1]}
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVC(probability=True, random_state=seed))
    return GridSearchCV(model, grid, cv=3)


def division(name: str, repeat: int) -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    """Training and test rows; classes too rare to be divided are left out."""
    data = load(name)
    X = data.X.drop(columns=data.X.columns[0]) if name == "breast_cancer" else data.X
    codes = pd.factorize(data.y, sort=True)[0]
    kept = np.flatnonzero(np.bincount(codes)[codes] >= LEAST_OF_A_CLASS)
    order = kept[np.random.default_rng(1000 + repeat).permutation(len(kept))]
    n_train = min(MOST_ROWS, int(0.7 * len(order)))
    train, test = order[:n_train], order[n_train : n_train + MOST_ROWS]
    present = np.isin(codes[test], codes[train])
    test = test[present]
    prepared = TablePreparer().fit(X.iloc[train].reset_index(drop=True))
    parts = [prepared.transform(X.iloc[rows].reset_index(drop=True)) for rows in (train, test)]
    return parts[0], codes[train], parts[1], codes[test]


def scores(y: Any, classes: Any, probabilities: Any) -> dict[str, float]:
    """Error, log-loss, Brier score and AUC (one-vs-rest, weighted by class)."""
    place = np.searchsorted(classes, y)
    truth = np.eye(len(classes))[place]
    of_truth = np.clip(probabilities[np.arange(len(y)), place], 1e-15, 1.0)
    seen = truth.any(axis=0) & ~truth.all(axis=0)
    auc = roc_auc_score(truth[:, seen], probabilities[:, seen], average="weighted")
    return {
        "error": float(np.mean(probabilities.argmax(axis=1) != place)),
        "log_loss": float(-np.mean(np.log(of_truth))),
        "brier": float(np.mean(np.square(probabilities - truth).sum(axis=1))),
        "auc": float(auc),
    }


def run(out: Path, sets: list[str], repeats: int, methods: list[str] | None) -> None:
    done: set[tuple[str, ...]] = set()
    if out.exists():
        done = set(
            pd.read_csv(out)[["set", "repeat", "method"]].astype(str).itertuples(index=False, name=None)
        )
    contenders: dict[str, Callable[[int], Any]] = dict(OURS)
    for name, (make, categories) in peers().items():
        contenders[name] = lambda seed, make=make, categories=categories: PeerClassifier(
            make(seed), categories
        )
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        for repeat in range(repeats):
            for name in sets:
                X, y, X_test, y_test = division(name, repeat)
                for method, make in contenders.items():
                    if (name, str(repeat), method) in done or (methods and method not in methods):
                        continue
                    started = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model = make(repeat).fit(X, pd.Series(y))
                        seconds = time.process_time() - started
                        found = scores(y_test, model.classes_, model.predict_proba(X_test))
                    row: dict[str, Any] = {"set": name, "repeat": repeat, "method": method}
                    row |= {key: round(value, 6) for key, value in found.items()}
                    row |= {"fit_s": round(seconds, 3), "n_train": len(y), "n_test": len(y_test)}
                    writer.writerow(row)
                    file.flush()
                    print(row, flush=True)


def table(out: Path) -> None:
    """Average ranks, mean values and regret over the tables that every method has."""
    rows = pd.read_csv(out)
    n = rows["method"].nunique()
    whole = rows.groupby(["set", "repeat"])["method"].transform("nunique") == n
    rows = rows[whole]
    figures = ["error", "log_loss", "brier", "auc", "fit_s"]
    means = rows.groupby(["set", "method"], as_index=False)[figures].mean()
    means["one_minus_auc"] = 1 - means["auc"]
    summary = pd.DataFrame(index=sorted(means["method"].unique()))
    for score in ("error", "log_loss", "brier", "one_minus_auc"):
        wide = means.pivot(index="set", columns="method", values=score)
        summary[f"rank, {score}"] = wide.rank(axis=1).mean()
        if score == "error":
            summary["mean error, %"] = 100 * wide.mean()
            summary["regret, points"] = 100 * wide.sub(wide.min(axis=1), axis=0).mean()
    summary["median fit, s"] = means.groupby("method")["fit_s"].median()
    print(f"{means['set'].nunique()} tables, {len(rows) // max(n, 1)} divisions\n")
    print(summary.sort_values("rank, error").round(2).to_markdown())
    print()
    print((100 * means.pivot(index="set", columns="method", values="error")).round(2).to_markdown())


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "flagship.csv")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--methods", nargs="*")
    given = parser.parse_args()
    if given.what == "run":
        run(given.out, given.sets, given.repeats, given.methods)
    else:
        table(given.out)


if __name__ == "__main__":
    main()
