"""``make demo``: train on a bundled data set, print a small table, write ``demo/report.html``.

A quarter of the rows is held out before anything is trained; errors and certificates come from it alone.
"""

from __future__ import annotations

import argparse
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
    DeepCascadeSVMClassifier,
    DeepCascadeSVMClassifierCV,
    MarginDeepForestClassifier,
    PolySVC,
    RandomCompositeForestClassifier,
    SurewoodClassifier,
    report,
)
from surewood.certify import Certificate, certify
from surewood.datasets import DataError, load
from surewood.report.certificate_words import certificate_facts
from surewood.report.words import percent, percent_up

SEED = 0
DELTA = 0.05


def models() -> list[tuple[str, Any, str]]:
    """Name, estimator and a note for each row of the table; the first ones are ours."""
    return [
        ("surewood (all families)", SurewoodClassifier(random_state=SEED), "the one to start with"),
        ("random composite forest", RandomCompositeForestClassifier(random_state=SEED), "SVMs at the leaves"),
        ("deep cascade", DeepCascadeSVMClassifierCV(random_state=SEED), "easy rows leave early"),
        ("margin deep forest", MarginDeepForestClassifier(random_state=SEED), "layers of forests"),
        (
            "composite forest of depth 3",
            RandomCompositeForestClassifier(
                50,
                selection="exact",
                max_depth=3,
                gamma_scale=1e-3,
                study={"constant_leaves": True},
                random_state=SEED,
            ),
            "degrees chosen leaf by leaf by the criterion",
        ),
        (
            "cascade of three SVMs",
            DeepCascadeSVMClassifier(
                3,
                n_leaves=3,
                multiclass="native",
                fractions=(0.1, 0.25, 0.5),
                degrees=(1, 2, 3),
                gamma_scale=1e-3,
                random_state=SEED,
            ),
            "the hardest tenth goes on, twice",
        ),
        ("binned forest", BinnedForestClassifier(200, random_state=SEED), "200 trees on one binned matrix"),
        ("polynomial SVM", PolySVC(degree=3), "degree 3"),
        ("random forest (scikit-learn)", RandomForestClassifier(200, random_state=SEED), "200 trees"),
        ("baseline (majority class)", DummyClassifier(strategy="prior"), "always the same class"),
    ]


#: Models whose insides are shown. On easy data the defaults choose trees of a single leaf and cascades of a
#: single machine; these have something to look at.
SHOWN = ("composite forest of depth 3", "cascade of three SVMs", "margin deep forest")


def run(name: str = "digits") -> dict[str, Any]:
    """Train and certify every model on one data set; returns the summary of the page."""
    data = load(name)
    X, X_hold, y, y_hold = train_test_split(
        data.X, data.y, test_size=0.25, stratify=data.y, random_state=SEED
    )
    rows, certificates, families = [], [], []
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
            certificates.append(certificate)
            rows.append(result_row(model_name, model, note, X_hold, y_hold, certificate, seconds))
            if model_name in SHOWN:
                bar.update(task, description=f"looking into {model_name}")
                summary = report.build_summary(
                    model,
                    X,
                    y,
                    holdout=(X_hold, y_hold),
                    certificate=certificate,
                    dataset={"name": data.name, "source": data.citation, "notes": []},
                    run={"seconds": seconds, "seed": SEED},
                )
                families.append({"name": model_name, "summary": summary})
            bar.advance(task)
    best = min((i for i, row in enumerate(rows) if row["ours"]), key=lambda i: rows[i]["error"])
    return {
        **about(data, len(y), len(y_hold)),
        "results": rows,
        "families": sorted(families, key=lambda family: SHOWN.index(family["name"])),
        "certificate": {**certificate_facts(certificates[best]), "model": rows[best]["model"]},
    }


def result_row(
    name: str, model: Any, note: str, X: Any, y: Any, certificate: Certificate, seconds: float
) -> dict[str, Any]:
    """One row of the comparison."""
    assert certificate.best is not None
    return {
        "model": name,
        "ours": type(model).__module__.startswith("surewood"),
        "floor": isinstance(model, DummyClassifier),
        "error": float(np.mean(model.predict(X) != y)),
        "guarantee": certificate.best.value,
        "log_loss": float(log_loss(y, model.predict_proba(X), labels=model.classes_)),
        "fit_seconds": seconds,
        "note": note,
    }


def about(data: Any, n_train: int, n_hold: int) -> dict[str, Any]:
    """What the page says of the data and the run."""
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
        "seed": SEED,
        "version": surewood.__version__,
        "environment": f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    }


def render(summary: dict[str, Any]) -> str:
    """The page: the comparison, then the three families from inside."""
    families = [
        {
            "name": family["name"],
            "anchor": family["name"].replace(" ", "-"),
            **report.model_values(family["summary"]),
        }
        for family in summary["families"]
    ]
    chart = comparison([row for row in summary["results"] if not row["floor"]])
    values = {**summary, "families": families, "comparison": chart}
    return report.render_template("demo.html", values, package="surewood.experiments")


def comparison(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Error as a dot, guarantee as the end of a bar; ours in colour, peers in grey."""
    drawn = []
    for row in sorted(rows, key=lambda row: row["error"]):
        dark, light = ("leaf", "leaf-soft") if row["ours"] else ("peer", "peer-soft")
        limit, error = percent_up(row["guarantee"]), percent(row["error"])
        parts = [
            report.charts.Part(0, row["guarantee"], light, f"error at most {limit} (GUARANTEE)"),
            report.charts.Part(
                row["error"], row["error"], dark, f"{error} wrong on the holdout (ESTIMATE)", "dot"
            ),
        ]
        drawn.append(report.charts.BarRow(row["model"], parts, f"{error}, at most {limit}"))
    axis = report.charts.fitted_axis([row["guarantee"] for row in rows], "percent", include=(0.0,))
    return report.charts.figure(
        "Error on the holdout, and what is guaranteed",
        report.charts.bar_rows(drawn, axis=axis),
        caption="Green: models of surewood. Grey: scikit-learn.",
        alt="Errors: " + ", ".join(f"{row['model']} {percent(row['error'])}" for row in rows),
    )


def print_results(summary: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title=summary["title"], title_justify="left")
    for title in ("model", "error", "guaranteed ≤ (95 %)", "log-loss", "fit"):
        table.add_column(title, justify="left" if title == "model" else "right")
    for row in summary["results"]:
        table.add_row(
            row["model"],
            f"{100 * row['error']:.2f} %",
            percent_up(row["guarantee"]),
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
    report.write_json(summary, arguments.out / "report.json")
    print(f"\nthe page: {page}")


if __name__ == "__main__":
    main()
