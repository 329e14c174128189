"""Which errors are the user's to fix (exit code 2) and which are the program's (exit code 1).

An error that our own code, or scikit-learn's validation, raised on purpose has a sentence for the user. Any
other error is a failure of the program: its type is shown, and how to see more. Errors of the workflow name
arguments as in Python; :func:`as_options` shows them as options of the command line.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

import surewood
from surewood.workflow.errors import WorkflowError

USER, PROGRAM = 2, 1
_OUR_FOLDER = str(Path(surewood.__file__).parent)
_VALIDATING = ("sklearn/utils/", "sklearn\\utils\\", "sklearn/model_selection", "sklearn\\model_selection")


_OPTIONS = {"parameters": "--set", "groups": "--group"}
_ARGUMENT = re.compile(
    r"\b(bins|categorical|claim|class_weight|classes|cluster|copies|cost|coverage|date|decimal|delta|drop|drop_duplicates|folds|force|fpr"
    r"|groups|header_line|holdout|id|keep|limit|max_rows|metric|missing|model|n_jobs|numeric|only|out|parameters|positive|precision|rare|recall|sheet"
    r"|sets_by|sets_guarantee|sets_score|target|time|time_limit|weight)=(?P<value>True\b|\"\w+\"|[^\s),;])?"
)


def as_options(text: str) -> str:
    """Python arguments in a sentence as options of the command line.

    Examples
    --------
    >>> as_options('leave these out with copies="leave_out"')
    'leave these out with --copies leave_out'
    >>> as_options("holdout=0.001 is less than one row (max_rows=)."), as_options("parameters=depth")
    ('--holdout 0.001 is less than one row (--max-rows).', '--set depth')
    """

    def option(found: re.Match[str]) -> str:
        name = _OPTIONS.get(found[1], "--" + found[1].replace("_", "-"))
        value = (found["value"] or "").strip('"')
        return f"{name} {value}" if value and value != "True" else name

    return _ARGUMENT.sub(option, text)


def explain_error(error: BaseException) -> tuple[int, str]:
    """Exit code and one sentence for an error that ended a command.

    Examples
    --------
    >>> explain_error(WorkflowError("there is no row 7."))
    (2, 'there is no row 7.')
    """
    from surewood.parallel import WorkerLost  # here: help does not wait for what these bring along
    from surewood.persistence import ModelFileError
    from surewood.tables import DataError

    if isinstance(error, WorkflowError | DataError):
        return USER, as_options(str(error))
    if isinstance(error, ModelFileError):
        return USER, str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return USER, f"{error.filename}: {error.strerror}."
    if isinstance(error, WorkerLost) or (isinstance(error, MemoryError) and "worker" in str(error)):
        return PROGRAM, str(error)
    if isinstance(error, MemoryError):
        return PROGRAM, "out of memory; give fewer rows (--max-rows) or a smaller model."
    if isinstance(error, ValueError | TypeError) and _on_purpose(error.__traceback__):
        return USER, " ".join(str(error).split())
    reason = " ".join(str(error).split())
    name = type(error).__name__
    return PROGRAM, f"failed: {name}{': ' if reason else ''}{reason}; --debug shows where."


def _on_purpose(trace: TracebackType | None) -> bool:
    """Whether the innermost frame is our own code or a validation: there errors are raised for the user."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return file.startswith(_OUR_FOLDER) or any(part in file for part in _VALIDATING)
