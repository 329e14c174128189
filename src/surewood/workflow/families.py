"""Classifiers by their short names, and how settings of a run become parameters of an estimator.

Short names are in the public list (:data:`surewood.SHORT_NAMES`). What a family needs to know about the size
of a sample it says itself, by ``settings_for`` and ``max_training_rows``
(:mod:`surewood.estimators.describing`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import surewood
from surewood.estimators.describing import title_of
from surewood.estimators.parameters import memory_bytes
from surewood.workflow.errors import WorkflowError

AUTO = "auto"


@dataclass(frozen=True)
class Family:
    """A classifier of the public list by its short name; its module is imported when it is first used.

    Examples
    --------
    >>> find_family("mddf").title, find_family("cascade").max_training_rows
    ('margin deep forest', 4000)
    """

    name: str
    estimator_name: str

    @property
    def kind(self) -> type[Any]:
        """The estimator class."""
        found: type[Any] = getattr(surewood, self.estimator_name)
        return found

    @property
    def title(self) -> str:
        """Its name in words."""
        title = title_of(self.kind)
        return title[:1].lower() + title[1:]

    @property
    def max_training_rows(self) -> int | None:
        """Training rows that the family uses by default at most; None: all."""
        limit: int | None = getattr(self.kind, "max_training_rows", None)
        return limit

    def settings_for(self, n_rows: int, n_classes: int) -> dict[str, Any]:
        """Parameters that the family recommends for a sample of this size."""
        recommend = getattr(self.kind, "settings_for", None)
        return {} if recommend is None else dict(recommend(n_rows, n_classes))

    def parameter_names(self) -> list[str]:
        """All parameters of the estimator."""
        return sorted(self.kind().get_params(deep=False))

    def study_names(self) -> list[str]:
        """Its study switches, which can be set like parameters."""
        return sorted(getattr(self.kind, "_study_switches", {}))


def families() -> dict[str, Family]:
    """All families by their short names, in the order of the public list."""
    return {name: Family(name, estimator) for name, estimator in surewood.SHORT_NAMES.items()}


def find_family(name: str) -> Family:
    """The family of a short name.

    Examples
    --------
    >>> try:
    ...     find_family("forest")
    ... except WorkflowError as error:
    ...     print(error)
    model='forest' is unknown; choose among surewood, rcf, cascade, mddf, auto.
    """
    known = families()
    if name not in known:
        raise WorkflowError(f"model={name!r} is unknown; choose among {', '.join((*known, AUTO))}.")
    return known[name]


@dataclass(frozen=True)
class FitSettings:
    """Settings of a fit that hold for any family."""

    random_state: int = 0
    n_jobs: int = -1
    #: Bytes, or a size such as "4GB".
    max_memory: int | str | None = None
    #: Parameters of the estimator.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    verbose: int = 0
    #: Seconds that the fit of an estimator may take, where it has a limit.
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.n_jobs == 0:
            raise WorkflowError("n_jobs=0 is not possible; -1 means all cores.")
        try:
            memory_bytes(self.max_memory)
        except (TypeError, ValueError) as error:
            raise WorkflowError(
                f"max_memory={self.max_memory} is not a size; write for example 4GB or 500MB."
            ) from error

    def estimator(self, family: Family, n_rows: int = 1, n_classes: int = 2, *, strict: bool = True) -> Any:
        """An estimator for a sample of this size; with `strict` it must have every parameter that is set."""
        known, switches = family.parameter_names(), family.study_names()
        chosen: dict[str, Any] = {
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
            "verbose": self.verbose,
            **family.settings_for(n_rows, n_classes),
        }
        if self.max_memory is not None:
            if "max_memory" not in known and strict:
                raise WorkflowError(f"max_memory={self.max_memory}: {family.name} has no memory limit.")
            chosen["max_memory"] = memory_bytes(self.max_memory)
        if self.time_limit is not None:
            if "time_limit" not in known and strict:
                raise WorkflowError(f"time_limit={self.time_limit:g}: {family.name} has no time limit.")
            chosen["time_limit"] = self.time_limit
        study = dict(chosen.pop("study", None) or {})
        for name, value in self.parameters.items():
            if name == "study" and isinstance(value, Mapping):
                study |= value
            elif name in known:
                chosen[name] = value
            elif name in switches:
                study[name] = value
            elif strict:
                hint = _hint(name, known + switches)
                raise WorkflowError(f"parameters={name}: {family.name} has no such parameter{hint}")
        if study:
            chosen["study"] = study
        return family.kind(**{name: value for name, value in chosen.items() if name in known})


def candidates(model: str, settings: FitSettings) -> list[Family]:
    """The one family to fit, or, for "auto", the single families to compare: a mixture of them is none.

    A parameter that none of them has is refused.
    """
    if model != AUTO:
        chosen = find_family(model)
        settings.estimator(chosen)
        return [chosen]
    every = [family for name, family in families().items() if name != surewood.DEFAULT_MODEL]
    known = sorted({name for family in every for name in family.parameter_names() + family.study_names()})
    for name in settings.parameters:
        if name not in known:
            raise WorkflowError(
                f"parameters={name}: no family has such a parameter{_hint(name, known, False)}"
            )
    return every


def _hint(name: str, known: list[str], listed: bool = True) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; it has {', '.join(known)}." if listed else "."
