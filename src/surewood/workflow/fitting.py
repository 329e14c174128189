"""From a table to a trained model, a certificate and a page: `fit`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

import surewood
from surewood.certify import Certificate
from surewood.parallel.progress import stage
from surewood.persistence import save
from surewood.tables import plain
from surewood.workflow import report_files
from surewood.workflow.choosing import Choice, choose_family
from surewood.workflow.errors import WorkflowError
from surewood.workflow.families import Family, FitSettings, candidates
from surewood.workflow.labelled_table import LabelledTable, read_for_training
from surewood.workflow.large_table import is_large, read_large
from surewood.workflow.model_folder import DATA, MODEL, PAGE
from surewood.workflow.output_place import check_folder
from surewood.workflow.training import Trained, certificate_of, limit_rows, peak_memory, prepare, train


@dataclass(frozen=True)
class FitResult:
    """Result of :func:`fit`.

    Attributes
    ----------
    model : Pipeline
        Table preparation and classifier; takes frames as they come.
    certificate : Certificate
    family : str
        Short name of the classifier.
    choice : Choice or None
        Scores by which the family was chosen.
    error, log_loss : float or None
        On the holdout; None without one.
    notes : tuple of str
        What was done to the table that its owner should know.
    facts : dict
        Everything worth recording about the fit, as plain values; stored with the model.
    files : dict of str to Path
        ``model``, ``page`` and ``data``; empty where nothing was written.
    """

    model: Pipeline
    certificate: Certificate
    family: str
    choice: Choice | None
    error: float | None
    log_loss: float | None
    notes: tuple[str, ...]
    facts: Mapping[str, Any]
    files: Mapping[str, Path]


def fit(
    table: str | Path,
    target: str | None = None,
    *,
    model: str = surewood.DEFAULT_MODEL,
    holdout: float | None = None,
    out: str | Path | None = None,
    delta: float = 0.05,
    random_state: int = 0,
    n_jobs: int = -1,
    max_rows: int | None = None,
    max_memory: int | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    cluster: str | None = None,
    command: str | None = None,
    verbose: int = 0,
) -> FitResult:
    """Train a model on a table and certify its error.

    Parameters
    ----------
    table : str or Path
        A CSV or Parquet file, a folder of Parquet files, or the name of a built-in data set.
    target : str, optional
        The column to predict; not needed for built-in data sets.
    model : str, default="surewood"
        Short name of the model (see :data:`surewood.SHORT_NAMES`): "surewood" is the mixture of all families,
        :class:`~surewood.SurewoodClassifier`; "auto" picks one family by out-of-fold scores.
    holdout : float, optional
        Fraction of rows held out for the certificate; 0: none. By default the official test part where there
        is one, else 0.2.
    out : str or Path, optional
        Folder to write model.surewood, report.html and report.json into; by default nothing is written.
    delta : float, default=0.05
        Probability that a guarantee may fail.
    random_state : int, default=0
    n_jobs : int, default=-1
        Threads; the model does not depend on it.
    max_rows : int, optional
        Train on at most this many rows, drawn at random.
    max_memory : int or str, optional
        Memory of the fit, such as "4GB".
    parameters : dict, optional
        Parameters of the estimator.
    cluster : str, optional
        Address of a running Dask scheduler or Ray cluster to work on.
    command : str, optional
        The command that this fit belongs to, recorded in the report.
    verbose : int, default=0

    Returns
    -------
    FitResult

    Examples
    --------
    >>> from surewood import workflow
    >>> small = {"n_estimators": 5, "max_layers": 1}
    >>> result = workflow.fit("iris", model="mddf", parameters=small, n_jobs=1)
    >>> result.family, result.certificate.best.status.name, result.facts["holdout_rows"]
    ('mddf', 'GUARANTEE', 30)
    """
    settings = FitSettings(random_state, n_jobs, max_memory, dict(parameters or {}), verbose)
    families = candidates(model, settings)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    with on_cluster(cluster):
        data, preparer = _read(str(table), target, holdout, random_state, verbose)
        choice = None
        if len(families) > 1:
            choice = choose_family(families, settings, preparer.transform(data.X), data.y)
            families = [choice.family]
        limit_rows(data, families[0], max_rows, random_state)
        estimator = settings.estimator(families[0], data.n_rows, data.y.nunique(), strict=choice is None)
        trained = train(data, preparer, estimator, verbose)
        with stage(verbose, "writing certificate, model and page", 3) as advance:
            certificate = certificate_of(trained, data, delta, 1 if choice is None else len(choice.scores))
            advance(1)
            facts = _facts(data, families[0], trained, certificate, choice, settings, command)
            files = {} if folder is None else _write(folder, trained, data, certificate, facts, verbose)
            advance(2)
    return FitResult(
        trained.pipeline,
        certificate,
        families[0].name,
        choice,
        None if trained.holdout is None else trained.holdout.error,
        None if trained.holdout is None else trained.holdout.log_loss,
        tuple(data.notes),
        facts,
        files,
    )


def default_folder(table: str | Path) -> Path:
    """Folder that the command line writes to by default.

    Examples
    --------
    >>> default_folder("data/churn.csv").name
    'surewood-churn'
    """
    return Path(f"surewood-{Path(table).name.split('.')[0] or 'table'}")


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Inside, tasks run on the cluster at this address; None changes nothing."""
    if address is None:
        yield
        return
    from surewood.parallel import cluster

    place = cluster(address)
    try:
        place.__enter__()
    except (ImportError, ConnectionError, ValueError) as error:
        raise WorkflowError(f"cluster={address}: {error}") from error
    try:
        yield
    finally:
        place.__exit__(None, None, None)


def _read(
    source: str, target: str | None, holdout: float | None, random_state: int, verbose: int
) -> tuple[LabelledTable, Any]:
    """The table, divided, and what was learned about its columns."""
    with stage(verbose, f"reading {Path(source).name}", 2) as advance:
        read = read_large if is_large(source) else read_for_training
        data = read(source, target, holdout, random_state)
        advance(1)
        preparer = prepare(data)
        advance(1)
    return data, preparer


def _facts(
    data: LabelledTable,
    family: Family,
    trained: Trained,
    certificate: Certificate,
    choice: Choice | None,
    settings: FitSettings,
    command: str | None,
) -> dict[str, Any]:
    """Everything worth recording about the fit, as plain values."""
    held = trained.holdout
    measured = (
        None if held is None else {"rows": data.n_holdout, "error": held.error, "log_loss": held.log_loss}
    )
    return {
        "surewood": surewood.__version__,
        "table": data.name,
        "source": data.source,
        "target": data.target,
        "family": family.name,
        "title": f"{family.title} ({family.name})",
        "classes": [plain(label) for label in trained.estimator.classes_],
        "rows": data.n_rows,
        "holdout_rows": data.n_holdout,
        "columns": len(trained.preparer.columns_),
        "dropped_columns": dict(trained.preparer.dropped_),
        "holdout": measured,
        "certificate": json.loads(certificate.to_json()),
        "choice": None if choice is None else choice.to_dict(),
        "seconds": trained.seconds,
        "peak_memory_bytes": peak_memory(),
        "seed": settings.random_state,
        "settings": dict(settings.parameters),
        "notes": data.notes,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _write(
    folder: Path,
    trained: Trained,
    data: LabelledTable,
    certificate: Certificate,
    facts: dict[str, Any],
    verbose: int,
) -> dict[str, Path]:
    """Write the model, the page and its data into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    save(trained.pipeline, folder / MODEL, facts=facts, verbose=verbose)
    run = {name: facts[name] for name in ("seconds", "peak_memory_bytes", "seed", "command")}
    report_files.write_report(folder, trained, data, certificate, run, verbose)
    return {"model": folder / MODEL, "page": folder / PAGE, "data": folder / DATA}
