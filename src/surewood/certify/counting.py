"""Which holdout rows may be counted, and what counts as one ([D-33], [D-34], theory.md §11.0).

`count_rows` leaves out copies of training rows and decides the unit: the row, the distinct content or the
group. `Counted` gives the limit of any rate or bounded mean on those units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from surewood._arrays import Floats, Mask
from surewood.bounds import Method, betting_upper_limit, error_limit
from surewood.tables import content_hashes
from surewood.tables.mixing import splitmix64

from .columns import discrete_columns
from .training_rows import TrainingRows

__all__ = ["COPIES", "NO_ROW_COUNTS", "Counted", "Limit", "count_rows"]

COPIES = ("auto", "natural", "exclude")
NO_ROW_COUNTS = (
    "no row can be counted: (nearly) all of them are copies of training rows, or look like altered ones"
)
MANY_COPIES = 0.2  # fraction of copies above which a certificate leads with them
_NEARLY_ALL = 0.9  # fraction of copies above which no row counts
_TOO_RARE = 1e-6  # probability below which so many rows alike training rows are no chance
_ALTERED = (
    "Warning: {} of {} rows agree with a training row in two digits of every number, more than independent "
    "rows would. They look like rounded or altered training rows, so no row is counted. If they are new all "
    'the same, copies="natural" counts them.'
)
_ORDER_SALT = 0x5EED  # keys the order in which rows are bet on
_COIN_SALT = 0xC0135  # keys the coin of a content whose copies are partly wrong


class Limit(NamedTuple):
    """An upper limit, how many units it rests on, and how it was found."""

    value: float
    n: int
    method: Method
    mean: float


@dataclass(frozen=True)
class Counted:
    """The countable part of a holdout."""

    #: Positions of the rows that count, in the order in which they are bet on.
    rows: NDArray[np.intp]
    #: Number of the content or group of each of those rows.
    unit: NDArray[np.intp]
    #: Whether units are groups given by the caller.
    grouped: bool
    #: Rows given, and those of them that are copies of training rows.
    n_given: int
    n_copies: int
    #: ``"natural"`` or ``"exclude"``.
    rule: str
    #: Whom the claim is about; empty for plain new rows.
    population: str
    #: Sentences a reader must know.
    facts: tuple[str, ...] = field(default=())
    #: Shape (n_units,). A number in [0, 1) for each content, keyed by it.
    coins: Floats = field(default_factory=lambda: np.zeros(0))
    #: What the other rule would count, where ``copies="auto"`` had a choice.
    other: Counted | None = None

    @property
    def n_units(self) -> int:
        """Independent units: rows, contents or groups."""
        return int(self.unit.max(initial=-1)) + 1

    @cached_property
    def unit_name(self) -> str:
        """What counts as one."""
        return "groups" if self.grouped else "rows" if self.n_units == self.rows.size else "contents"

    def means(self, loss: Floats, where: Mask | None = None) -> Floats:
        """Mean loss of every unit with a row in `where`."""
        kept = loss if where is None else loss[where]
        if self.unit_name == "rows":
            return kept
        unit = self.unit if where is None else self.unit[where]
        distinct, position = np.unique(unit, return_inverse=True)
        sizes = np.bincount(position, minlength=distinct.size)
        return np.asarray(np.bincount(position, weights=kept, minlength=distinct.size) / sizes)

    def upper(self, loss: Floats, where: Mask | None = None, *, delta: float, n_models: int = 1) -> Limit:
        """Upper limit of the mean of a loss in [0, 1] over the units with a row in `where`.

        Losses of 0 or 1: the exact binomial limit. A content whose copies are wrong in a fraction z of the
        cases counts as wrong if a coin with that probability, keyed by the content, says so: counts are then
        independent with the right mean, whichever contents repeat, and the limit holds at delta exactly.
        Groups and other losses: betting.
        """
        if loss.size == 0 or (where is not None and not where.any()):
            return Limit(1.0, 0, Method.HOLDOUT, math.nan)
        means = self.means(loss, where)
        n, mean = means.size, float(means.mean())
        rows = loss if where is None else loss[where]
        if self.grouped or not np.isin(rows, (0.0, 1.0)).all():
            value = betting_upper_limit(np.clip(means, 0.0, 1.0), delta=delta, n_models=n_models)
            return Limit(value, n, Method.BETTING, mean)
        wrong = int(np.count_nonzero(self._coins(where) < means))
        return Limit(error_limit(wrong, n, delta=delta, n_models=n_models), n, Method.HOLDOUT, mean)

    def _coins(self, where: Mask | None) -> Floats:
        """A number in [0, 1) for each unit with a row in `where`, in the order of `means`."""
        if self.unit_name == "rows":
            return np.zeros(self.rows.size if where is None else int(where.sum()))
        return self.coins[np.unique(self.unit if where is None else self.unit[where])]


def count_rows(
    X: Any,
    n: int,
    training: TrainingRows,
    *,
    copies: str = "auto",
    groups: NDArray[Any] | None = None,
    labels: NDArray[Any] | None = None,
) -> Counted:
    """Decide which of `n` rows count and what the unit is.

    `labels` only key the order in which rows are bet on, so that it does not depend on that of the file.
    """
    if copies not in COPIES:
        raise ValueError(f"copies must be one of {', '.join(COPIES)}, got {copies!r}")
    hashes = content_hashes(X, salt=_ORDER_SALT)
    copied, unnoticed = training.look_for_copies(X, n)
    n_copies = int(copied.sum())
    rule, reason = _rule(X, copies, hashes, n_copies, training)
    kept = np.flatnonzero(~copied) if rule == "exclude" else np.arange(n)
    nearly_all = n_copies > _NEARLY_ALL * n
    repeated_training = nearly_all and (rule == "exclude" or n_copies / n > _natural_rate(n, training))
    if repeated_training or (rule == "exclude" and unnoticed > 1.0):
        kept = kept[:0]  # what is left of a table of copies is more likely an altered copy than a new row
    kept = kept[np.argsort(hashes[kept] if rule == "exclude" else _spread(hashes[kept], labels, kept))]
    population, facts = _population(rule, reason, n, n_copies, training)
    n_altered = _altered_rows(X, hashes, kept, training) if rule == "exclude" else 0
    if n_altered:
        kept = kept[:0]
        facts.insert(0, _ALTERED.format(n_altered, n))
    if repeated_training and rule == "natural":
        facts = [f"Warning: {n_copies} of {n} rows equal a training row; training rows hardly repeat."]
    if groups is not None:
        unit = _group_numbers(groups[kept].astype(str))
        if rule == "exclude":
            own = _in_first_group(hashes[kept], unit)
            if not own.all():
                again = int((~own).sum())
                facts.append(f"{again} of {n} rows repeat a row of another group; equal rows count once.")
            kept, unit = kept[own], _renumbered(unit[own])
        population = f"rows of new groups{', ' if population else ''}{population.removeprefix('new rows ')}"
    elif rule == "exclude":
        unit = np.cumsum(np.r_[True, np.diff(hashes[kept]) != 0]) - 1 if kept.size else kept
        repeated = kept.size - (int(unit.max(initial=-1)) + 1)
        if repeated:
            facts.append(f"{repeated} of {n} rows repeat another holdout row; equal rows count once.")
            population = f"{population or 'new rows'} (equal rows count once)"
    else:
        unit = np.arange(kept.size)
    other = None
    if copies == "auto" and reason:
        opposite = "natural" if rule == "exclude" else "exclude"
        other = count_rows(X, n, training, copies=opposite, groups=groups, labels=labels)
    unit = np.asarray(unit)
    coins = _uniform(hashes[kept[np.unique(unit, return_index=True)[1]]])
    return Counted(kept, unit, groups is not None, n, n_copies, rule, population, tuple(facts), coins, other)


def _altered_rows(X: Any, hashes: NDArray[np.uint64], kept: NDArray[np.intp], training: TrainingRows) -> int:
    """How many of the kept contents are alike a training row, where that is more than chance allows; else 0.

    Training rows that were rounded to fewer digits are no copies, but alike their originals, while
    independent rows are alike a training row as seldom as training rows are alike each other. The rule looks
    at features alone and can only take a claim away.
    """
    limit = training.likeness_limit
    if limit >= 1.0 or kept.size == 0:
        return 0
    alike = training.alike(X, hashes.size)[kept]
    _, first = np.unique(hashes[kept], return_index=True)
    n_alike = int(alike[first].sum())
    return n_alike if n_alike and special.bdtrc(n_alike - 1, first.size, limit) < _TOO_RARE else 0


def _uniform(hashes: NDArray[np.uint64]) -> Floats:
    """A number in [0, 1) for each hash."""
    with np.errstate(over="ignore"):
        words = splitmix64(hashes + np.uint64(_COIN_SALT))
    return np.asarray((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _spread(
    hashes: NDArray[np.uint64], labels: NDArray[Any] | None, rows: NDArray[np.intp]
) -> NDArray[np.uint64]:
    """Keys that put equal rows at places independent of each other (theory.md §11.3).

    Sorted by content alone, equal rows would follow each other, and a bettor would know the next one. So a
    key is a hash of content, label and the running number among rows that agree in both.
    """
    code = np.zeros(rows.size, dtype=np.uint64)
    if labels is not None:
        code = np.unique(labels[rows].astype(str), return_inverse=True)[1].astype(np.uint64)
    with np.errstate(over="ignore"):
        keys = splitmix64(hashes ^ splitmix64(code))
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if keys.size else order
        number = np.empty(keys.size, dtype=np.uint64)
        sizes = np.diff(np.r_[first, keys.size])
        number[order] = np.arange(keys.size) - np.repeat(first, sizes)
        return np.asarray(splitmix64(keys + splitmix64(number)))


def _group_numbers(groups: NDArray[Any]) -> NDArray[np.intp]:
    """Number the groups in an order keyed by their names: contents that groups share do not order them."""
    names, unit = np.unique(groups, return_inverse=True)
    if not names.size:
        return np.asarray(unit, dtype=np.intp)
    keys = content_hashes(pd.DataFrame({"group": names.astype(object)}), salt=_ORDER_SALT)
    rank = np.empty(names.size, dtype=np.intp)
    rank[np.argsort(keys, kind="stable")] = np.arange(names.size)
    return np.asarray(rank[unit])


def _in_first_group(hashes: NDArray[np.uint64], unit: NDArray[np.intp]) -> Mask:
    """Which rows count where groups share contents: those of the first of these groups, in keyed order.

    A content that was recorded for several groups is no new evidence in the second of them.
    """
    _, content = np.unique(hashes, return_inverse=True)
    first = np.full(int(content.max(initial=-1)) + 1, unit.max(initial=0), dtype=unit.dtype)
    np.minimum.at(first, content, unit)
    return np.asarray(unit == first[content])


def _renumbered(unit: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers of groups without the gaps of those that have no row left."""
    return np.asarray(np.unique(unit, return_inverse=True)[1])


def _rule(
    X: Any, copies: str, hashes: NDArray[np.uint64], n_copies: int, training: TrainingRows
) -> tuple[str, str]:
    """The rule taken, and why where the caller left it open."""
    if copies != "auto":
        return copies, "as asked"
    if not discrete_columns(X):
        return "exclude", ""
    n = hashes.size
    natural = _natural_rate(n, training)
    repeated = 1.0 - np.unique(hashes).size / n
    if training.known and (n_copies / n > natural or (training.n_rows >= n and repeated > natural)):
        return "exclude", "there are more copies than independent rows of discrete columns would have"
    return "natural", "every column is discrete, so independent rows are often equal"


def _natural_rate(n: int, training: TrainingRows) -> float:
    """Fraction of `n` independent rows that may equal a training row.

    A new row meets an earlier one at most about twice as often as those repeat; three standard errors more.
    """
    return 2.0 * training.copied_fraction + 3.0 * math.sqrt(0.25 / n)


def _population(
    rule: str, reason: str, n: int, n_copies: int, training: TrainingRows
) -> tuple[str, list[str]]:
    """Whom the claim is about, and what a reader must know first."""
    facts: list[str] = []
    if rule == "natural":
        equal = f"{n_copies} of {n} rows equal a training row" if training.known else "equal rows"
        facts.append(f'All {n} rows are counted, equal ones too (copies="natural": {reason}; {equal}).')
        return "", facts
    if n_copies:
        percent = f"{100 * n_copies / n:.0f} %"
        lead = "Warning: " if n_copies > MANY_COPIES * n else ""
        facts.append(
            f"{lead}{n_copies} of {n} holdout rows ({percent}) are copies of training rows; not counted."
        )
        if reason:
            facts.append(f"Copies are excluded: {reason}.")
    checked = training.known or n_copies > 0
    return "new rows that are not copies of training rows" if checked else "", facts
