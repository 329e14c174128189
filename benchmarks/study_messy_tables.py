"""Clean tables and their dirty twins: error of the same model on both, and columns lost.

Twelve shared tables are written twice. The dirty twin has codes for missing values where the clean one is
empty, prices with a currency sign and thousands marks, percentages, German decimals (in every other table),
dates in mixed forms, padded labels, a mark at its start or an older encoding, and an index column. Both are
read, planned and prepared by surewood; the default model is trained on the same rows of both.

    python -m benchmarks.study_messy_tables        # writes benchmarks/results/messy_tables.csv
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from papers.datasets import load
from surewood import SurewoodClassifier
from surewood.tables import TablePreparer

TABLES = (
    "iris", "abalone", "australian", "breast_cancer", "german_numeric", "ionosphere", "satimage", "sonar",
    "splice", "vehicle", "vowel", "yeast",
)  # fmt: skip
MOST_ROWS, FOLDS = 1500, 3
RESULTS = Path(__file__).parent / "results" / "messy_tables.csv"
CODES = ("?", "-", "N/A", "#DIV/0!", "null", "unknown")


def main(quick: bool = False) -> None:
    rows = []
    for place, name in enumerate(TABLES[:2] if quick else TABLES):
        with tempfile.TemporaryDirectory(prefix="study-messy-") as folder:
            rows.append(measure(name, place, Path(folder)))
        row = rows[-1]
        print(
            f"{name:>16} clean {row['clean']:.4f} dirty {row['dirty']:.4f} lost {row['columns lost']}",
            flush=True,
        )
    found = pd.DataFrame(rows)
    difference = 100 * (found["dirty"] - found["clean"]).mean()
    print(f"mean difference {difference:+.2f} points of error; columns lost: {found['columns lost'].sum()}")
    if not quick:
        RESULTS.parent.mkdir(exist_ok=True)
        found.round(5).to_csv(RESULTS, index=False)


def measure(name: str, place: int, folder: Path) -> dict[str, Any]:
    frame = clean_table(name, place)
    clean, dirty = folder / "clean.csv", folder / "dirty.csv"
    frame.to_csv(clean, index=False)
    dirty.write_bytes(dirty_twin(frame, place))
    errors, used = {}, {}
    for what, path in (("clean", clean), ("dirty", dirty)):
        data = load(path, target="label", raw=True)
        errors[what] = error(data.X, data.y)
        used[what] = set(TablePreparer().fit(data.X).columns_)
    lost = used["clean"] - used["dirty"]
    return {
        "table": name,
        "rows": len(frame),
        "columns": frame.shape[1] - 1,
        **errors,
        "columns lost": len(lost),
    }


def clean_table(name: str, place: int) -> pd.DataFrame:
    """Some rows of a shared table, with a date that tells a little about the class, and missing values."""
    data = load(name)
    rng = np.random.default_rng(place)
    rows = np.sort(rng.permutation(len(data.X))[:MOST_ROWS])
    X = data.X.iloc[rows].reset_index(drop=True)
    X.columns = [f"x{k}" for k in range(X.shape[1])]
    for column in X.select_dtypes("number").columns[:8]:
        X[column] = X[column].astype(float).mask(rng.random(len(X)) < 0.03)
    labels = data.y.iloc[rows].reset_index(drop=True).map(lambda label: f"class {label}")
    codes = pd.factorize(labels)[0]
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 300, len(X)) + 40 * codes, unit="D")
    return X.assign(seen=days.strftime("%Y-%m-%d"), label=labels)


def dirty_twin(frame: pd.DataFrame, place: int) -> bytes:
    """The same table as people export it."""
    rng = np.random.default_rng(1000 + place)
    german = place % 2 == 1
    out = pd.DataFrame({"": np.arange(len(frame))})
    numbers = frame.select_dtypes("number").columns.tolist()
    for k, name in enumerate(frame.columns):
        column = frame[name]
        if name in numbers:
            texts = [written(value, k, german) for value in column]
            codes = rng.choice(CODES, len(frame))
            out[name] = [str(c) if pd.isna(v) else t for v, t, c in zip(column, texts, codes)]
        elif name == "seen":
            forms = rng.choice(["%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y"], len(frame))
            out[name] = [pd.Timestamp(v).strftime(str(f)) for v, f in zip(column, forms)]
        elif name == "label":
            out[name] = [f"{v} " if rng.random() < 0.3 else v for v in column]
        else:
            out[name] = [f" {v}" if rng.random() < 0.3 else v for v in column.astype(str)]
    text = out.to_csv(index=False, sep=";" if german else ",")
    if place % 3 == 0:
        return text.encode("utf-8-sig")
    return text.replace("class ", "clàss ").encode("latin-1") if place % 3 == 1 else text.encode()


def written(value: float, k: int, german: bool) -> str:
    """A number as a spreadsheet of that country shows it, by column: currency, percent, or marks alone."""
    if pd.isna(value):
        return ""
    digits = f"{value:,.10f}".rstrip("0")
    digits += "0" if digits.endswith(".") else ""
    if german:
        digits = digits.translate(str.maketrans(",.", ".,"))
    if k % 5 == 1:
        return f"{digits} EUR" if german else f"${digits}".replace("$-", "-$")
    return f"{digits}%" if k % 5 == 2 else digits


def error(X: pd.DataFrame, y: pd.Series) -> float:
    """Cross-validated error; columns are planned on the training rows of each fold."""
    wrong = np.zeros(len(y), dtype=bool)
    for train, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        preparer = TablePreparer().fit(X.iloc[train])
        model = SurewoodClassifier(random_state=0, n_jobs=1)
        model.fit(preparer.transform(X.iloc[train]), y.iloc[train])
        wrong[held] = model.predict(preparer.transform(X.iloc[held])) != y.iloc[held]
    return float(wrong.mean())


if __name__ == "__main__":
    main()
