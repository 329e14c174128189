"""``make demo``: train on a bundled data set, print a small table, write ``demo/report.html``.

A quarter of the rows is put aside before anything is trained; errors and certificates come from it alone.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import surewood
from surewood import (
    BinnedForestClassifier,
    DeepCascadeSVMClassifierCV,
    MarginDeepForestClassifier,
    PolySVC,
    RandomCompositeForestClassifier,
    report,
)
from surewood.certify import Certificate, certify
from surewood.datasets import DataError, load

SEED = 0
DELTA = 0.05


def models() -> list[tuple[str, Any, str]]:
    """Name, estimator and a note for each row of the table; the first ones are ours."""
    return [
        ("random composite forest", RandomCompositeForestClassifier(random_state=SEED), "SVMs at the leaves"),
        ("deep cascade", DeepCascadeSVMClassifierCV(random_state=SEED), "easy points leave early"),
        ("margin deep forest", MarginDeepForestClassifier(random_state=SEED), "layers of forests"),
        ("binned forest", BinnedForestClassifier(200, random_state=SEED), "200 trees on one binned matrix"),
        ("polynomial SVM", PolySVC(degree=3, probability=True), "degree 3"),
        ("random forest (scikit-learn)", RandomForestClassifier(200, random_state=SEED), "200 trees"),
        ("largest class", DummyClassifier(strategy="prior"), "the floor"),
    ]


def run(name: str = "digits") -> dict[str, Any]:
    """Train and certify every model on one data set; returns the summary of the page."""
    data = load(name)
    X, X_hold, y, y_hold = train_test_split(
        data.X, data.y, test_size=0.25, stratify=data.y, random_state=SEED
    )
    rows, certificates = [], []
    columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(models()))
        for model_name, model, note in models():
            bar.update(task, description=f"training {model_name}")
            started = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - started
            # All models are shown side by side and the best is singled out: each pays for all of them.
            certificate = certify(
                model, X_hold, y_hold, delta=DELTA, n_models=len(models()), methods=["holdout"]
            )
            assert certificate.best is not None
            certificates.append(certificate)
            rows.append(
                {
                    "model": model_name,
                    "ours": type(model).__module__.startswith("surewood"),
                    "floor": isinstance(model, DummyClassifier),
                    "error": float(np.mean(model.predict(X_hold) != y_hold)),
                    "guarantee": certificate.best.value,
                    "log_loss": float(log_loss(y_hold, model.predict_proba(X_hold), labels=model.classes_)),
                    "fit_seconds": seconds,
                    "note": note,
                }
            )
            bar.advance(task)
    best = min((i for i, row in enumerate(rows) if row["ours"]), key=lambda i: rows[i]["error"])
    return summarise(data, len(y), len(y_hold), rows, rows[best]["model"], certificates[best])


def summarise(
    data: Any, n_train: int, n_hold: int, rows: list[dict[str, Any]], best: str, certificate: Certificate
) -> dict[str, Any]:
    """Everything the page shows, as plain values."""
    entries = [
        {
            "status": str(entry.status),
            "method": str(entry.method),
            "value": f"{math.ceil(1e4 * entry.value) / 1e4:.4f}",  # a bound is never rounded down
            "sample": f"{entry.n} {entry.sample} rows",
            "conditions": "; ".join(str(condition) for condition in entry.conditions),
        }
        for entry in certificate.entries
    ]
    return {
        "title": f"surewood on {data.name}",
        "subtitle": f"{data.citation}. One run, one split: a first look, not a study.",
        "facts": [
            {"value": f"{n_train:,}", "label": "training rows"},
            {"value": f"{n_hold:,}", "label": "holdout rows"},
            {"value": str(data.X.shape[1]), "label": "columns"},
            {"value": str(data.y.nunique()), "label": "classes"},
        ],
        "confidence": 1 - DELTA,
        "results": rows,
        "certificate": {"model": best, "verdict": certificate.verdict, "entries": entries},
        "seed": SEED,
        "version": surewood.__version__,
        "environment": f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    }


def render(summary: dict[str, Any]) -> str:
    bars = [row for row in summary["results"] if not row["floor"]]
    scale = min(1.0, 1.1 * max((row["guarantee"] for row in bars), default=1.0))
    return report.render_template("demo.html", {"bars": bars, "scale": scale, "charts": False, **summary})


def print_results(summary: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title=summary["title"], title_justify="left")
    for title in ("model", "error", "guaranteed ≤ (95 %)", "log-loss", "fit"):
        table.add_column(title, justify="left" if title == "model" else "right")
    for row in summary["results"]:
        table.add_row(
            row["model"],
            f"{100 * row['error']:.2f} %",
            f"{100 * row['guarantee']:.2f} %",
            f"{row['log_loss']:.3f}",
            f"{row['fit_seconds']:.2f} s",
            style="bold green" if row["ours"] else "",
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="folder of report.html and report.json"
    )
    parser.add_argument("--data", default="digits", help="a name of `surewood datasets`")
    arguments = parser.parse_args()
    try:
        summary = run(arguments.data)
    except DataError as error:
        parser.exit(2, f"{error}\n")
    print_results(summary)
    page = report.write_text(render(summary), arguments.out / "report.html")
    (arguments.out / "report.json").write_text(json.dumps(summary, indent=2), encoding="utf-8")
    print(f"\nthe page: {page}")


if __name__ == "__main__":
    main()
