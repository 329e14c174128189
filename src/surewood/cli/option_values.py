"""Options that several commands share, and how words of the command line become Python values."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from surewood.workflow.errors import WorkflowError

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a running Dask (tcp://HOST:PORT) or Ray (ray://HOST:PORT, or auto). Same model.",
        show_default=False,
    ),
]
TABLE_HELP = "A CSV or Parquet file, a folder of Parquet files, or a built-in data set."
MODEL_HELP = "A model file, or the folder that `surewood fit` wrote."


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


def parse_bytes(text: str | None) -> int | None:
    """A size such as 4GB, 500 MB or 1073741824.

    Examples
    --------
    >>> parse_bytes("1.5GB"), parse_bytes("64 KiB"), parse_bytes(None)
    (1500000000, 65536, None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None or float(found[1]) <= 0:
        raise WorkflowError(f"--max-memory takes a size such as 4GB or 500MB, got {text!r}.")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** " kmgt".index(found[2] or " "))
