"""From a table to a trained model, a certificate and a page: `fit`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import surewood
from surewood.base.wording import percent, plural
from surewood.certify import Certificate
from surewood.certify.deciding import DecidingClassifier
from surewood.parallel.progress import stage
from surewood.persistence.model_file import save
from surewood.report.facts import peak_memory
from surewood.tables import TablePlan, TablePreparer, plain
from surewood.tables.planning.labels import read_bins
from surewood.workflow import reporting
from surewood.workflow.columns import ColumnOptions, Finding, check_table
from surewood.workflow.deciding import DecisionRule, apply_rule
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
from surewood.workflow.holdout_scores import SCORES, holdout_scores
from surewood.workflow.labelled_table import (
    LabelledTable,
    Source,
    TableOptions,
    class_weights,
    read_for_training,
)
from surewood.workflow.training import Trained, limit_rows, prepare, train


@dataclass(frozen=True, repr=False)
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
        What the user should know about the table and what was done to it.
    facts : dict
        Everything worth recording about the fit, as plain values; stored with the model.
    files : dict of str to Path
        ``model``, ``plan``, ``page``, ``data`` and ``card``; empty where nothing was written.
    holdout_rows : ndarray of int
        Positions of the holdout among the labeled rows of the table, from 0.

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

    def __repr__(self) -> str:
        facts = self.facts
        rows = f"{facts['rows']:,} training rows, {facts['holdout_rows']:,} holdout rows"
        lines = [f"{facts['title']} on {facts['table']}, target {facts['target']!r}: {rows}"]
        lines += [] if self.error is None else [f"holdout error {percent(self.error)}"]
        lines.append(self.certificate.verdict)
        lines += [f"{plural(len(self.notes), 'note')}, see .notes"] if self.notes else []
        return "\n".join([*lines, *(f"{what}: {path}" for what, path in self.files.items())])


def fit(
    table: Source,
    target: str | None = None,
    *,
    model: str = surewood.DEFAULT_MODEL,
    parameters: Mapping[str, Any] | None = None,
    copies: str = "check",
    weight: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    rule: DecisionRule | None = None,
    delta: float = 0.05,
    max_rows: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    cluster: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    page: bool = True,
    command: str | None = None,
    verbose: int = 0,
    **options: Unpack[TableOptions],
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
    parameters : dict, optional
        Parameters of the estimator.
    copies : {"check", "count", "leave_out"}
        Whether holdout rows that equal a training row count. "check": they do unless the training table
        looks copied.
    weight : str, optional
        Column of row weights, for training; errors and guarantees count rows.
    class_weight : "balanced", dict or str, optional
        Weights of classes, also as text such as ``"no=1,yes=5"``.
    rule : DecisionRule, optional
        Requirements of decisions: a recall, a precision, an error where the model decides, a cost.
    delta : float, default=0.05
        Probability that a guarantee may fail.
    max_rows : int, optional
        Train on at most this many rows, drawn at random.
    time_limit : float, optional
        Seconds that fitting the estimator may take, for those that have a limit.
    n_jobs : int, default=-1
        Threads; the model does not depend on it.
    cluster : str, optional
        Address of a running Dask scheduler or Ray cluster to work on.
    out : str or Path, optional
        Folder for model.surewood, plan.toml, report.html, report.json and card.md; by default none.
    force : bool, default=False
        Write into a folder that holds the model of another table.
    page : bool, default=True
        Write the page, its data and the card too, which takes longer than many fits.
    command : str, optional
        The command that this fit belongs to, recorded in the report.
    verbose : int, default=0
        1: the stages of the fit and their progress, on standard error.
    **options
        How the table is read and divided, and the seed: see :class:`TableOptions`.

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
    seed, columns = options.get("random_state", 0), options.get("columns") or ColumnOptions()
    settings = FitSettings(seed, n_jobs, dict(parameters or {}), verbose, time_limit=time_limit)
    families = candidates(model, settings)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    place = nullcontext() if cluster is None else on_cluster(cluster)
    with place, nullcontext() if folder is None else reserved(folder):
        with stage(verbose, f"reading {_name_of(table)}", 1) as advance:
            data = read_for_training(table, target, copies=copies, weight=weight, **options)
            data.notes += data.holdout_notes
            advance(1)
        if folder is not None and not force:  # after reading: a misspelled target is no other model
            refuse_other_model(folder, table, target)
        preparer = prepare(data, columns)
        findings = check_training(data, columns, preparer)
        rows = data.rows
        if class_weight is not None:
            weights = class_weights(class_weight, rows.y.unique())
            settings = replace(settings, parameters={**settings.parameters, "class_weight": weights})
        choice = None
        if len(families) > 1:
            prepared = preparer.prepare(rows.X)
            choice = choose_family(families, settings, prepared, rows)
            families = [choice.family]
        limit_rows(data, families[0], max_rows, seed)
        estimator = settings.estimator(families[0], data.n_rows, data.rows.y.nunique(), strict=choice is None)
        trained = train(data, preparer, estimator, verbose, seen=rows.X)
        with stage(verbose, "writing certificate, model and page", 3) as advance:
            n_compared = 1 if choice is None else len(choice.scores)
            trained, certificate = apply_rule(trained, data, rule or DecisionRule(), delta, n_compared)
            advance(1)
            facts = _facts(data, families[0], trained, certificate, choice, settings, command)
            facts["reading"] = {name: options.get(name) for name in ("header_line", "sheet", "classes")}
            facts["reading"] |= {"bins": list(read_bins(options.get("bins"))), "decimal": columns.decimal}
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
        np.empty(0, dtype=np.int64) if data.holdout is None or data.where is None else data.holdout.places,
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
    return Path(f"surewood-{' '.join(stem.split()) or 'table'}")


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Inside, tasks run on the cluster at this address."""
    with ExitStack() as stack:
        try:
            stack.enter_context(surewood.cluster(address))
        except (ImportError, ConnectionError, ValueError) as error:
            raise WorkflowError(f"cluster={address}: {error}") from error
        yield


def plan_table(
    table: Source,
    target: str | None = None,
    *,
    weight: str | None = None,
    **options: Unpack[TableOptions],
) -> TablePlan:
    """The plan that :func:`fit` with the same arguments would use, found from the training rows.

    Examples
    --------
    >>> print(plan_table("iris")["petal width (cm)"].kind)
    number
    """
    data = read_for_training(table, target, weight=weight, **options)
    return (options.get("columns") or ColumnOptions()).make_plan(data.rows.X)


def check_training(data: LabelledTable, columns: ColumnOptions, preparer: TablePreparer) -> list[Finding]:
    """What :func:`check_table` finds in the training rows, as notes too; ignored columns are not checked."""
    rows = data.rows
    features = rows.X.drop(columns=rows.X.columns.intersection(list(columns.ignored)))
    numbers = None
    if data.where is not None:  # over several files rows are counted through
        numbers = rows.places if data.where.are_several else data.where.numbers[rows.places]
    findings = check_table(features, rows.y, time=rows.times, row_numbers=numbers, preparer=preparer)
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
        {
            "name": one.name,
            "title": one.name.replace("_", " "),
            "weight": float(one.weight),
            "seconds": float(one.seconds),
            "note": one.note,
        }
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
        "majority_error": 1.0 - float(data.holdout.y.value_counts(normalize=True).max()),
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
