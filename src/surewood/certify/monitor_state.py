"""What a monitor knows, as one small JSON file.

The file holds counts, logarithms of capital and keys of batches; nothing in it can run code. It is written
all or nothing, and what cannot be right (another format, missing entries, capital that is not finite) is
refused.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from surewood._arrays import check_number
from surewood.bounds.monitoring import ErrorEvidence, ShiftEvidence
from surewood.persistence.leftovers import partial

__all__ = ["MonitorState", "MonitorStateError", "read_state", "write_state"]

FORMAT = 1
_N_SCORES = ShiftEvidence().counts.size
_LARGEST = 1e300


class MonitorStateError(ValueError):
    """A file that is not the state of a monitor, or not of this one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surewood.certify import Monitor, MonitorStateError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = Path(folder) / "monitor.json"
    ...     _ = state.write_text("not a state")
    ...     try:
    ...         Monitor.load(state)
    ...     except MonitorStateError:
    ...         print("not the state of a monitor")
    not the state of a monitor
    """


@dataclass
class MonitorState:
    """Everything needed to go on.

    Attributes
    ----------
    limit : float or None
        The guaranteed error that is watched; None: no error alarm.
    alpha : float
        Probability of a false alarm, for each of the two alarms.
    seed : int
        Of the uniform numbers that break ties.
    model : str
        Which model is watched.
    columns : list of str or None
    n_labelled, n_errors : int
    error_capital : list of float
        Logarithms, one per bet.
    error_peak, shift_peak : float
        Largest logarithm of the mixed capital so far; an alarm stays one.
    score_counts : dict
        Rows per rounded score, holdout included; empty: no shift alarm.
    n_scored, log_p_sum
    labelled_batches, scored_batches : list of str
    copies : {"count", "leave_out"}
        Whether rows that equal a training row count.
    path : list of dict
        Points of the evidence, for a picture.
    trained_on : int or None
        A digest of the training rows of the model, where it remembers them.
    """

    limit: float | None
    alpha: float
    seed: int = 0
    model: str = ""
    columns: list[str] | None = None
    n_labelled: int = 0
    n_errors: int = 0
    error_capital: list[float] = field(default_factory=list)
    error_peak: float = 0.0
    score_counts: dict[str, int] = field(default_factory=dict)
    n_scored: int = 0
    log_p_sum: float = 0.0
    shift_peak: float = 0.0
    labelled_batches: list[str] = field(default_factory=list)
    scored_batches: list[str] = field(default_factory=list)
    copies: str = "count"
    path: list[dict[str, Any]] = field(default_factory=list)
    trained_on: int | None = None
    format: int = FORMAT

    def error_evidence(self) -> ErrorEvidence | None:
        """The evidence against the limit, to go on with."""
        if self.limit is None:
            return None
        if not self.error_capital:
            return ErrorEvidence(self.limit)
        return ErrorEvidence(self.limit, np.array(self.error_capital))

    def shift_evidence(self) -> ShiftEvidence | None:
        """The evidence against "the rows look like the holdout's", to go on with."""
        if not self.score_counts:
            return None
        counts = np.zeros(_N_SCORES, dtype=np.int64)
        for score, rows in self.score_counts.items():
            counts[int(score)] = rows
        return ShiftEvidence(counts=counts, n_seen=self.n_scored, log_p_sum=self.log_p_sum)


def write_state(state: MonitorState, path: str | Path) -> Path:
    """Write the state, all or nothing."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial(path) as unfinished:
        unfinished.write_text(json.dumps(asdict(state), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(unfinished, path)
    return path


def read_state(path: str | Path) -> MonitorState:
    """Read a state written by :func:`write_state`."""
    path = Path(path)
    if not path.is_file():
        raise MonitorStateError(f"there is no monitor state {path}.")
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise MonitorStateError(f"{path} is not the state of a monitor, or is cut short.") from error
    known = set(MonitorState.__dataclass_fields__)
    if not isinstance(fields, dict) or set(fields) != known:
        raise MonitorStateError(f"{path} is not the state of a monitor.")
    if fields["format"] != FORMAT:
        raise MonitorStateError(f"{path} has format {fields['format']}; this surewood reads {FORMAT}.")
    state = MonitorState(**fields)
    try:
        _check(state)
        state.error_evidence()
        state.shift_evidence()
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise MonitorStateError(f"{path} is damaged: {error}.") from error
    return state


def _check(state: MonitorState) -> None:
    """Refuse numbers out of range and lists of something else."""
    for name in ("n_labelled", "n_errors", "n_scored"):
        check_number(name, getattr(state, name), 0, 2**63 - 1, whole=True)
    check_number("n_errors", state.n_errors, 0, state.n_labelled, whole=True)
    check_number("seed", state.seed, -(2**63), 2**64 - 1, whole=True)
    check_number("alpha", state.alpha, 0.0, 1.0)
    if state.trained_on is not None:
        check_number("trained_on", state.trained_on, 0, 2**64 - 1, whole=True)
    for name in ("error_peak", "shift_peak", "log_p_sum"):
        check_number(name, getattr(state, name), -_LARGEST, _LARGEST)
    for capital in state.error_capital:
        check_number("error_capital", capital, -_LARGEST, _LARGEST)
    for score, rows in state.score_counts.items():
        check_number("score_counts", int(score), 0, _N_SCORES - 1, whole=True)
        check_number("score_counts", rows, 0, 2**63 - 1, whole=True)
    for texts in (state.labelled_batches, state.scored_batches, state.columns or [], [state.model]):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("names of columns and batches must be lists of text")
    if state.copies not in ("count", "leave_out"):
        raise ValueError("copies must be count or leave_out")
    if not isinstance(state.path, list):
        raise ValueError("path must be a list of points")
    for point in state.path:
        numbers = {name: value for name, value in point.items() if name != "kind"}
        if point.get("kind") not in ("error", "shift") or not {"rows", "log_evidence"} <= set(numbers):
            raise ValueError("path must be a list of points")
        for name, value in numbers.items():
            check_number(name, value, -_LARGEST, _LARGEST)
