"""Options that several commands share, and how words of the command line become Python values."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from surewood.workflow.errors import WorkflowError

COLUMNS, DECISIONS = "Columns", "Decisions"  # panels of the help
TABLE_HELP = (
    "A table file (CSV, Parquet, Excel, ...), several files with the same columns, - for standard input, "
    "a folder of Parquet files, or a bundled data set."
)
Tables = Annotated[list[str], typer.Argument(help=TABLE_HELP)]
Target = Annotated[str | None, typer.Option(help="The column to predict; not needed for bundled data sets.")]
LabelledTable = Annotated[
    list[str], typer.Argument(help="A labeled table that was not used for training or tuning.")
]
ModelTarget = Annotated[
    str | None, typer.Option(help="The column with the classes; the model's own by default.")
]
SavedModel = Annotated[Path, typer.Argument(help="A model file, or the folder that `surewood fit` wrote.")]
HeaderLine = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Line with the column names; detected by default.", rich_help_panel=COLUMNS
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Sheet of an Excel file; the first table by default.", rich_help_panel=COLUMNS
    ),
]
GroupColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="COLUMN,...",
        help="Rows of one group (a patient, a device) stay together; the guarantee is about new groups.",
        show_default=False,
    ),
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="Rows are ordered by this column: the last ones are held out, and their error is an estimate.",
        show_default=False,
    ),
]
Copies = Annotated[
    str,
    typer.Option(
        metavar="[check|count|leave_out]",
        help="Rows that equal a training row: count them, leave them out of the guarantee, or check: leave "
        "them out if the training table looks copied.",
    ),
]
Delta = Annotated[float, typer.Option(min=1e-9, max=0.5, help="Probability that a guarantee may fail.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Threads = Annotated[int, typer.Option(help="Threads; -1: all cores. The models do not depend on it.")]


def one_or_several(tables: list[str]) -> str | list[str]:
    """A table, or several files that are one table."""
    return tables[0] if len(tables) == 1 else tables


def takes(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put the options of a function in the place of a command's parameter, which gets what it returns.

    Several commands share the same options so: `table_options`, `certify_options`.

    Examples
    --------
    >>> def both(first: int = 1, second: int = 2) -> int:
    ...     return first + second
    >>> @takes(total=both)
    ... def command(word: str, total: int) -> None:
    ...     print(word, total)
    >>> command(word="sum", first=5, second=2)
    sum 7
    >>> list(inspect.signature(command).parameters)
    ['word', 'first', 'second']
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        shared = {name: inspect.signature(read, eval_str=True).parameters for name, read in groups.items()}
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in own.parameters.items()
            for parameter in (shared[name].values() if name in shared else [one])
        ]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            for name, read in groups.items():
                values[name] = read(**{option: values.pop(option) for option in shared[name]})
            command(**values)

        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorated


def _names(help: str, *flags: str) -> Any:
    """An option that takes names of columns, with commas or repeated."""
    return typer.Option(*flags, metavar="NAME,...", help=help, rich_help_panel=COLUMNS)


def table_options(
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=0.9, help="Fraction of rows held out for the certificate; 0: none. Default: 0.2."
        ),
    ] = None,
    drop_duplicates: Annotated[
        bool,
        typer.Option(
            "--drop-duplicates",
            help="Remove repeated rows (equal features and target) before dividing the rows.",
        ),
    ] = False,
    group: GroupColumns = None,
    time: TimeColumn = None,
    plan_file: Annotated[
        Path | None, typer.Option(help="An edited plan.toml: what each column is.", rich_help_panel=COLUMNS)
    ] = None,
    drop: Annotated[list[str] | None, _names("Columns not to use.")] = None,
    identifiers: Annotated[
        list[str] | None, _names("Columns that name a row: kept in predictions, never a feature.", "--id")
    ] = None,
    categorical: Annotated[list[str] | None, _names("Columns of codes, such as postal codes.")] = None,
    numeric: Annotated[list[str] | None, _names("Columns of numbers.")] = None,
    date: Annotated[list[str] | None, _names("Columns of dates.")] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[COLUMN=]TEXT,...",
            help="Further texts that mean a missing value, in all columns or in one: '-999,age=0'.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(help="The decimal mark, . or a comma.", rich_help_panel=COLUMNS)
    ] = None,
    header_line: HeaderLine = None,
    sheet: Sheet = None,
    classes: Annotated[
        bool,
        typer.Option("--classes", help="Take each value of a target that looks like a quantity as a class."),
    ] = False,
    bins: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER,...", help="Make classes of a quantity, divided at these values: 0,100,1000."
        ),
    ] = None,
    rare: Annotated[
        str,
        typer.Option(
            metavar="[drop|merge|keep]",
            help="Classes with one row: drop them, merge them as 'other', or keep them.",
        ),
    ] = "drop",
    seed: Annotated[int, typer.Option(min=0, help="Same seed: same holdout, folds and models.")] = 0,
) -> dict[str, Any]:
    """How a table is read and divided, as `fit` and `compare` of the workflow take it."""
    # Here, as in every command: help and completion do not wait for what only the work needs.
    from surewood.workflow.columns import ColumnOptions, names_of, read_plan_file

    columns = ColumnOptions(
        None if plan_file is None else read_plan_file(plan_file),
        names_of(drop),
        names_of(identifiers),
        names_of(categorical),
        names_of(numeric),
        names_of(date),
        names_of(missing),
        decimal,
    )
    return {
        "holdout": holdout,
        "drop_duplicates": drop_duplicates,
        "groups": names_of(group) or None,
        "time": time,
        "columns": columns,
        "header_line": header_line,
        "sheet": sheet,
        "classes": classes,
        "bins": bins,
        "rare": rare,
        "random_state": seed,
    }


def _rate(help: str, least: float, most: float, *flags: str) -> Any:
    """An option of a decision: a fraction between `least` and `most`."""
    return typer.Option(*flags, min=least, max=most, help=help, rich_help_panel=DECISIONS)


def decision_options(
    positive: Annotated[
        str | None,
        typer.Option(
            help="The class that --recall, --precision and --fpr are about.", rich_help_panel=DECISIONS
        ),
    ] = None,
    recall: Annotated[
        float | None, _rate("Find a threshold with at least this recall, guaranteed.", 0.001, 0.9999)
    ] = None,
    precision: Annotated[
        float | None, _rate("Find a threshold with at least this precision, guaranteed.", 0.001, 0.9999)
    ] = None,
    fpr: Annotated[
        float | None,
        _rate("Find a threshold with at most this false positive rate.", 0.0001, 0.999, "--fpr"),
    ] = None,
    accepted_error: Annotated[
        float | None,
        _rate("Answer 'abstain' where unsure; at most this error among the other rows.", 0.0001, 0.999),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="TRUE:PREDICTED=COST,...",
            help="Decide by smallest expected cost, such as 'bad:good=5,good:bad=1'.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
) -> dict[str, Any]:
    """What decisions must meet, as `DecisionRule` takes it."""
    return {
        "positive": positive,
        "recall": recall,
        "precision": precision,
        "fpr": fpr,
        "accepted_error": accepted_error,
        "cost": cost,
    }


def certify_options(
    claims: Annotated[
        list[str] | None,
        typer.Option(
            "--claim",
            metavar="CLAIM,...",
            help="What to guarantee: error (default), accuracy, balanced_accuracy, brier, log_loss, cost, "
            "error_by:COLUMN, or of a class, as in recall:CLASS: recall, specificity, precision, npv, fpr, "
            "f1, mcc, auc, calibration; all share delta.",
            show_default=False,
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="TRUE:PREDICTED=COST,...", help="Costs of wrong predictions, for the claim cost."
        ),
    ] = None,
    copies: Copies = "check",
    group: GroupColumns = None,
    time: TimeColumn = None,
    delta: Delta = 0.05,
    n_models: Annotated[
        int, typer.Option(min=1, help="If you compared several models on this table, how many.")
    ] = 1,
    header_line: HeaderLine = None,
    sheet: Sheet = None,
) -> dict[str, Any]:
    """What a certificate is to be about, as `certify_model` takes it."""
    from surewood.workflow.columns import names_of

    return {
        "claims": claims or (),
        "cost": cost,
        "copies": copies,
        "groups": names_of(group) or None,
        "time": time,
        "delta": delta,
        "n_models": n_models,
        "header_line": header_line,
        "sheet": sheet,
    }


def parse_parameters(words: Sequence[str]) -> dict[str, Any]:
    """``key=value`` words as parameters; values are read as Python values, else as text.

    Examples
    --------
    >>> parse_parameters(["n_estimators=50", "degrees=[1, 2]", "selection=exact", "calibrate=false"])
    {'n_estimators': 50, 'degrees': [1, 2], 'selection': 'exact', 'calibrate': False}
    """
    parameters: dict[str, Any] = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name.strip().isidentifier():
            raise WorkflowError(f"--set takes name=value, got {word!r}.")
        parameters[name.strip()] = _value(value.strip())
    return parameters


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
