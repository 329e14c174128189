"""``surewood fit``: from a table to a trained model, a certificate and a page."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import surewood
from surewood.cli.app import app, console
from surewood.cli.families import (
    FAMILIES,
    Family,
    ModelName,
    RunSettings,
    families_of,
    parse_bytes,
    parse_changes,
)
from surewood.cli.mistakes import Mistake
from surewood.cli.on_cluster import ClusterAddress, on_cluster
from surewood.cli.output_place import check_folder
from surewood.parallel.progress import display, stage

if TYPE_CHECKING:
    from surewood.certify import Certificate
    from surewood.cli.choosing import Choice
    from surewood.cli.input_table import InputTable
    from surewood.cli.training import Trained

_EXAMPLES = """[bold]Examples[/bold]

surewood fit wine

surewood fit customers.csv --target churned --out churn

surewood fit big.parquet --target label --model mddf --set n_estimators=50
"""


@app.command(epilog=_EXAMPLES)
def fit(
    table: Annotated[
        str,
        typer.Argument(
            help="A CSV or Parquet file, a folder of Parquet files, or a name of `surewood datasets`."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; catalogue names know theirs.")
    ] = None,
    model: Annotated[ModelName, typer.Option(help="The family; auto picks it on out-of-fold scores.")] = (
        ModelName.auto
    ),
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.9,
            help="Share of rows put aside for the certificate; 0: none. "
            "Default: the official test part where there is one, else 0.2.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the model and its page.", show_default="surewood-TABLE")
    ] = None,
    delta: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="Probability that a guarantee may fail.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same model.")] = 0,
    n_jobs: Annotated[
        int, typer.Option(help="Threads; -1: all cores. The model does not depend on it.")
    ] = -1,
    max_rows: Annotated[
        int | None,
        typer.Option(
            min=10,
            help="Train on at most so many rows, drawn at random; the cascade takes 4,000 unless told.",
        ),
    ] = None,
    max_memory: Annotated[str | None, typer.Option(help="Memory of the fit, such as 4GB.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any parameter of the estimator; repeatable."),
    ] = None,
    cluster: ClusterAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Train a model on a table and say what may be promised about it.

    Writes model.surewood, report.html and report.json into a folder.
    """
    if n_jobs == 0:
        raise Mistake("--n-jobs must not be 0; -1 means all cores.")
    settings = RunSettings(seed, n_jobs, parse_bytes(max_memory), parse_changes(changes or []), verbose=1)
    with display(), ExitStack() as place:
        with stage(1, "starting", 4) as advance:
            # Here, as in every command: help and completion do not wait for what only the work needs.
            from surewood.cli.input_table import read_for_training

            advance(1)
            from surewood.cli.large_table import is_large, read_large
            from surewood.cli.summary_text import print_fit

            advance(1)
            from surewood.cli.choosing import choose_family
            from surewood.cli.training import certificate_of, prepare, train

            advance(1)
            families = families_of(model, settings.changes or {})
            for family in families:
                settings.estimator(family, strict=model is not ModelName.auto)
            folder = _folder(out, table)
            place.enter_context(on_cluster(cluster))
        with stage(1, f"reading {Path(table).name}", 2) as advance:
            read = read_large if is_large(table) else read_for_training
            data = read(table, target, holdout, seed)
            advance(1)
            preparer = prepare(data)
        choice = None
        if len(families) > 1:
            choice = choose_family(families, settings, preparer.transform(data.X), data.y)
            families = [choice.family]
        _limit_rows(data, families[0], max_rows, seed)
        estimator = settings.estimator(families[0], data.n_rows, data.y.nunique(), strict=choice is None)
        trained = train(data, preparer, estimator, verbose=1)
        with stage(1, "writing certificate, model and page", 3) as advance:
            certificate = certificate_of(trained, data, delta, 1 if choice is None else len(choice.scores))
            advance(1)
            facts = _facts(data, families[0], trained, certificate, choice, settings)
            _write_model(folder, trained, facts)
            advance(1)
            files = _write_report(folder, trained, data, certificate, facts)
    if as_json:
        print(json.dumps({**facts, "files": files}, indent=2, ensure_ascii=False))
    else:
        print_fit(console(), facts, files)


def _folder(out: Path | None, table: str) -> Path:
    """The output folder, which must be one or be able to become one."""
    stem = Path(table).name.split(".")[0] or "table"
    folder = Path(f"surewood-{stem}") if out is None else out
    check_folder(folder, f"--out {folder}")
    return folder


def _limit_rows(data: InputTable, family: Family, max_rows: int | None, seed: int) -> None:
    """Go on with a random part of the training rows where the family or the user wants fewer."""
    from surewood.cli.choosing import comparison_rows

    most = family.most_rows if max_rows is None else max_rows
    n_rows = data.n_rows
    if most is None or n_rows <= most:
        return
    if data.stream is not None and most > len(data.y):
        data.stream = data.stream.split(most / n_rows, seed)[1]
        data.n_streamed = data.stream.open().n_rows
    else:
        data.keep(comparison_rows(data.y, most, seed))
    why = "" if max_rows is not None else f" ({family.name} takes no more; --max-rows changes it)"
    data.notes.append(f"trained on a random {data.n_rows:,} of {n_rows:,} training rows{why}.")


def _facts(
    data: InputTable,
    family: Family,
    trained: Trained,
    certificate: Certificate,
    choice: Choice | None,
    settings: RunSettings,
) -> dict[str, Any]:
    """Everything worth remembering about the fit, as plain values."""
    from surewood.cli.training import peak_memory
    from surewood.tables import plain

    measured = None
    if data.holdout is not None:
        measured = {"rows": len(data.holdout[1]), "error": trained.error, "log_loss": trained.log_loss}
    return {
        "surewood": surewood.__version__,
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "family": family.name,
        "title": f"{FAMILIES[family.name].title} ({family.name})",
        "classes": [plain(label) for label in trained.pipeline[-1].classes_],
        "rows": data.n_rows,
        "holdout_rows": 0 if data.holdout is None else len(data.holdout[1]),
        "columns": len(trained.pipeline[0].columns_),
        "dropped_columns": dict(trained.pipeline[0].dropped_),
        "holdout": measured,
        "certificate": json.loads(certificate.to_json()),
        "choice": None if choice is None else choice.to_dict(),
        "seconds": trained.seconds,
        "peak_memory_bytes": peak_memory(),
        "seed": settings.seed,
        "settings": dict(settings.changes or {}),
        "notes": data.notes,
        "command": _command(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _command() -> str:
    return shlex.join(["surewood", *sys.argv[1:]])


def _write_model(folder: Path, trained: Trained, facts: dict[str, Any]) -> None:
    from surewood.cli.model_file import MODEL

    folder.mkdir(parents=True, exist_ok=True)
    surewood.save(trained.pipeline, folder / MODEL, facts=facts, verbose=1)


def _write_report(
    folder: Path,
    trained: Trained,
    data: InputTable,
    certificate: Certificate,
    facts: dict[str, Any],
) -> dict[str, str]:
    from surewood.cli.model_file import DATA, MODEL, PAGE
    from surewood.cli.report_files import write_report

    run = {
        "seconds": facts["seconds"],
        "peak_memory_bytes": facts["peak_memory_bytes"],
        "seed": facts["seed"],
        "command": facts["command"],
    }
    write_report(folder, trained, data, certificate, run)
    return {"model": str(folder / MODEL), "page": str(folder / PAGE), "data": str(folder / DATA)}
