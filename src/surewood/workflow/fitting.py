"""From a table to a trained model, a certificate and a page: `fit`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import surewood
from surewood.certify import Certificate
from surewood.certify.deciding import DecidingClassifier
from surewood.parallel.progress import stage
from surewood.persistence.model_file import save
from surewood.tables import TablePlan, TablePreparer, plain
from surewood.tables.reading.table_file import Reading
from surewood.workflow import reporting
from surewood.workflow.columns import ColumnOptions, Finding, check_table
from surewood.workflow.dividing import Sampling
from surewood.workflow.errors import WorkflowError
from surewood.workflow.families import Choice, Family, FitSettings, candidates, choose_family
from surewood.workflow.folders import (
    CARD,
    DATA,
    MODEL,
    PAGE,
    PLAN,
    check_folder,
    refuse_other_model,
    reserved,
    whole_set,
)
from surewood.workflow.labelled_table import (
    LabelledTable,
    Source,
    TrainingTable,
    class_weights,
    is_large,
    read_for_training,
    read_large,
)
from surewood.workflow.quantities import read_bins
from surewood.workflow.training import (
    SCORES,
    DecisionRule,
    Trained,
    apply_rule,
    certificate_of,
    holdout_scores,
    limit_rows,
    peak_memory,
    prepare,
    train,
)


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
        ``model``, ``plan``, ``page``, ``data`` and ``card``; empty where nothing was written.
    holdout_rows : ndarray of int
        Positions of the holdout among the labelled rows of the table, from 0.

    Examples
    --------
    >>> from surewood import workflow
    >>> fitted = workflow.fit("wine", model="mddf", parameters={"n_estimators": 5, "max_layers": 1}, n_jobs=1)
    >>> fitted.family, fitted.files, len(fitted.holdout_rows)
    ('mddf', {}, 36)
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
    holdout_rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def fit(
    table: Source,
    target: str | None = None,
    *,
    model: str = surewood.DEFAULT_MODEL,
    holdout: float | None = None,
    copies: str = "check",
    drop_duplicates: bool = False,
    groups: str | Sequence[str] | None = None,
    time: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    page: bool = True,
    delta: float = 0.05,
    random_state: int = 0,
    n_jobs: int = -1,
    max_rows: int | None = None,
    time_limit: float | None = None,
    columns: ColumnOptions | None = None,
    rare: str = "drop",
    weight: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    rule: DecisionRule | None = None,
    parameters: Mapping[str, Any] | None = None,
    classes: bool = False,
    bins: str | Sequence[float] | None = None,
    header_line: int | None = None,
    sheet: str | None = None,
    cluster: str | None = None,
    command: str | None = None,
    verbose: int = 0,
) -> FitResult:
    """Train a model on a table and certify its error.

    Parameters
    ----------
    table : str, Path or list of them
        A table file (see :func:`surewood.tables.read_table`), several of one shape, "-" for standard input, a
        folder of Parquet files, or the name of a bundled data set.
    target : str, optional
        The column to predict; not needed for bundled data sets.
    model : str, default="surewood"
        Short name of the model (see :data:`surewood.SHORT_NAMES`): "surewood" is the mixture of all families,
        :class:`~surewood.SurewoodClassifier`; "auto" picks one family by out-of-fold scores.
    holdout : float, optional
        Fraction of rows held out for the certificate; 0: none. By default 0.2.
    copies : {"check", "count", "leave_out"}
        Whether holdout rows that equal a training row count. "check": they do unless the training table
        looks copied.
    drop_duplicates : bool, default=False
        Remove repeated rows (equal features and target) before the rows are divided.
    groups : str or list of str, optional
        Column that names the group of a row (a patient, a device). Whole groups are held out and the
        guarantee is about new groups. Not a feature.
    time : str, optional
        Column with the time of a row. The last rows are held out; their error is an estimate, because the
        future may differ. Not a feature.
    out : str or Path, optional
        Folder for model.surewood, plan.toml, report.html, report.json and card.md; by default none.
    force : bool, default=False
        Write into a folder that holds the model of another table.
    page : bool, default=True
        Write the page, its data and the card too, which takes longer than many fits.
    delta : float, default=0.05
        Probability that a guarantee may fail.
    random_state : int, default=0
    n_jobs : int, default=-1
        Threads; the model does not depend on it.
    max_rows : int, optional
        Train on at most this many rows, drawn at random.
    time_limit : float, optional
        Seconds that fitting the estimator may take, for those that have a limit.
    columns : ColumnOptions, optional
        Decisions about columns: an edited plan, columns to drop, identifiers, kinds, missing codes.
    rare : {"drop", "merge", "keep"}
        What becomes of classes of one row: left out, merged as "other", or kept among the training rows.
    weight : str, optional
        Column of row weights, for training; errors and guarantees count rows.
    class_weight : "balanced", dict or str, optional
        Weights of classes, also as text such as ``"no=1,yes=5"``.
    rule : DecisionRule, optional
        What decisions must keep: a recall, a precision, an error where the model decides, a cost.
    parameters : dict, optional
        Parameters of the estimator.
    classes : bool, default=False
        Take the values of a target that looks like a quantity as classes.
    bins : str or list of float, optional
        Make classes of a quantity: ``"0,100,1000"`` divides it at these values.
    header_line : int, optional
        Line of a text file, or row of a sheet, with the names of the columns, from 1; found by default.
    sheet : str, optional
        Sheet of an Excel file; by default the first one that holds a table.
    cluster : str, optional
        Address of a running Dask scheduler or Ray cluster to work on.
    command : str, optional
        The command that this fit belongs to, recorded in the report.
    verbose : int, default=0
        1: the stages of the fit and their progress, on standard error.

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
    sampling = Sampling.of(copies, groups, time, drop_duplicates)
    ignored = () if columns is None else (*columns.drop, *columns.identifiers)
    wanted = TrainingTable(
        table,
        target,
        holdout,
        random_state,
        rare,
        weight,
        sampling,
        ignored,
        Reading(header_line=header_line, sheet=sheet),
        classes,
        read_bins(bins),
        None if columns is None else columns.decimal,
    )
    settings = FitSettings(random_state, n_jobs, dict(parameters or {}), verbose, time_limit=time_limit)
    families = candidates(model, settings)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    with on_cluster(cluster), nullcontext() if folder is None else reserved(folder):
        data = read_training(wanted, verbose)
        if folder is not None and not force:  # after reading: a misspelled target is no other model
            refuse_other_model(folder, table, target)
        preparer = prepare(data, columns)
        findings = check_training(data, ignored, preparer)
        if class_weight is not None:
            weights = class_weights(class_weight, data.y.unique())
            settings = replace(settings, parameters={**settings.parameters, "class_weight": weights})
        choice = None
        if len(families) > 1:
            prepared = preparer.transform(data.X)
            choice = choose_family(families, settings, prepared, data.y, data.weight, data.groups)
            families = [choice.family]
        seen = data.X
        limit_rows(data, families[0], max_rows, random_state)
        estimator = settings.estimator(families[0], data.n_rows, data.y.nunique(), strict=choice is None)
        trained = train(data, preparer, estimator, verbose, seen=seen)
        with stage(verbose, "writing certificate, model and page", 3) as advance:
            n_compared = 1 if choice is None else len(choice.scores)
            plain_one = partial(certificate_of, trained, data, n_compared=n_compared)
            trained, certificate = apply_rule(trained, data, rule or DecisionRule(), plain_one, delta)
            advance(1)
            facts = _facts(data, families[0], trained, certificate, choice, settings, command)
            facts["reading"] = {
                "header_line": header_line,
                "sheet": sheet,
                "classes": classes,
                "bins": list(wanted.bins),
                "decimal": wanted.decimal,
            }
            facts["findings"] = [finding.to_dict() for finding in findings]
            files = {} if folder is None else _write(folder, trained, data, certificate, facts, verbose, page)
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
        data.holdout_places,
    )


def default_folder(table: Source) -> Path:
    """Folder that the command line writes to by default.

    Examples
    --------
    >>> default_folder("data/churn.csv").name
    'surewood-churn'
    """
    first = table if isinstance(table, str | Path) else table[0]
    stem = "" if str(first) == "-" else Path(first).name.split(".")[0]
    return Path(f"surewood-{stem or 'table'}")


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


def plan_table(
    table: Source,
    target: str | None = None,
    *,
    holdout: float | None = None,
    random_state: int = 0,
    columns: ColumnOptions | None = None,
    rare: str = "drop",
    weight: str | None = None,
    classes: bool = False,
    bins: str | Sequence[float] | None = None,
    header_line: int | None = None,
    sheet: str | None = None,
) -> TablePlan:
    """The plan that :func:`fit` with the same arguments would use, found from the training rows.

    Examples
    --------
    >>> print(plan_table("iris")["petal width (cm)"].kind)
    number
    """
    reading = Reading(header_line=header_line, sheet=sheet)
    data = read_training(
        TrainingTable(
            table,
            target,
            holdout,
            random_state,
            rare,
            weight,
            reading=reading,
            classes=classes,
            bins=read_bins(bins),
            decimal=None if columns is None else columns.decimal,
        )
    )
    return (columns or ColumnOptions()).make_plan(data.X)


def read_training(wanted: TrainingTable, verbose: int = 0) -> LabelledTable:
    """The table, divided into training rows and holdout; a large one as a sample and a stream."""
    with stage(verbose, f"reading {_name_of(wanted.source)}", 1) as advance:
        streamed = isinstance(wanted.source, str | Path) and is_large(str(wanted.source))
        data = read_large(wanted) if streamed else read_for_training(wanted)
        advance(1)
    return data


def check_training(data: LabelledTable, ignored: Sequence[str], preparer: TablePreparer) -> list[Finding]:
    """What :func:`check_table` finds in the training rows, as notes too; ignored columns are not checked."""
    features = data.X.drop(columns=[name for name in ignored if name in data.X])
    numbers = data.row_numbers if len(data.row_numbers) == len(data.y) else None
    findings = check_table(features, data.y, time=data.times, row_numbers=numbers, preparer=preparer)
    # of a column that is not used the plan's note says why
    data.notes += [str(finding) for finding in findings if finding.column not in preparer.dropped_]
    return findings


def _name_of(source: Source) -> str:
    if isinstance(source, str | Path):
        return "standard input" if str(source) == "-" else Path(source).name
    return f"{len(source)} files"


def _members(estimator: Any) -> list[dict[str, Any]]:
    """Members of a mixture: weight, time of the fit, and why one is left out; none for other models."""
    return [
        {"name": one.name, "weight": float(one.weight), "seconds": float(one.seconds), "note": one.note}
        for one in getattr(estimator, "members_", ())
    ]


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
        "features": trained.prepared.shape[1],
        "members": _members(trained.estimator),
        "dropped_columns": dict(trained.preparer.dropped_),
        "identifiers": list(trained.preparer.plan_.identifiers),
        "holdout": _measured(data, trained),
        SCORES: holdout_scores(trained, data),
        "certificate": json.loads(certificate.to_json()),
        "choice": None if choice is None else choice.to_dict(),
        "models_compared": 1 if choice is None else len(choice.scores),
        "sampling": asdict(data.sampling),
        "seconds": trained.seconds,
        "peak_memory_bytes": peak_memory(),
        "seed": settings.random_state,
        "settings": dict(settings.parameters),
        "notes": data.notes,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _measured(data: LabelledTable, trained: Trained) -> dict[str, Any] | None:
    """Scores on all holdout rows; the error is that of the most probable class."""
    held = trained.holdout
    if held is None or data.holdout is None:
        return None
    return {
        "rows": data.n_holdout,
        "error": held.error,
        "majority_error": 1.0 - float(data.holdout[1].value_counts(normalize=True).max()),
        "log_loss": held.log_loss,
        "has_rule": isinstance(trained.pipeline[-1], DecidingClassifier),
    }


def _write(
    folder: Path,
    trained: Trained,
    data: LabelledTable,
    certificate: Certificate,
    facts: dict[str, Any],
    verbose: int,
    page: bool,
) -> dict[str, Path]:
    """Write the model, its plan and, if wanted, the page and its data into a folder, all or nothing."""
    plan = trained.preparer.plan_.to_toml(str(folder / PLAN))
    run = {name: facts[name] for name in ("seconds", "peak_memory_bytes", "seed", "command")}
    with whole_set(folder) as new:
        save(trained.pipeline, new / MODEL, facts=facts, verbose=verbose)
        (new / PLAN).write_text(plan, encoding="utf-8")
        if page:
            reporting.write_report(new, trained, data, certificate, run, facts["choice"], verbose)
    names = {"model": MODEL, "plan": PLAN} | ({"page": PAGE, "data": DATA, "card": CARD} if page else {})
    return {what: folder / name for what, name in names.items()}
