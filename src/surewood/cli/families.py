"""The three families by their short names, and how options become parameters of an estimator.

A kernel machine's cost grows with the square of its rows, so the cascade has rules of its own here, each of
which an option overrides: at most `CASCADE_ROWS` training rows (``--max-rows``), fewer machines a search the
more rows there are (study switch `max_svms`), and one cascade for all classes above `MANY_CLASSES` of them
(``--set multiclass=one_vs_rest``). The other two families bound their work by themselves.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import surewood
from surewood.cli.mistakes import Mistake

CASCADE_ROWS = 4000
MANY_CLASSES = 5
_MACHINE_WORK = 2000 * 600**2  # machines of a search times the square of the rows


@dataclass(frozen=True)
class Family:
    """A family: its estimator, by name so that only the one used is imported."""

    name: str
    title: str
    estimator: str

    def build(self, parameters: Mapping[str, Any]) -> Any:
        """The estimator with those of the parameters."""
        return getattr(surewood, self.estimator)(**parameters)

    @property
    def most_rows(self) -> int | None:
        """Training rows that the family takes unless told otherwise."""
        return CASCADE_ROWS if self.name == "cascade" else None

    def parameters_for(self, n_rows: int, n_classes: int) -> dict[str, Any]:
        """Parameters that depend on the size of the sample.

        Examples
        --------
        >>> FAMILIES["cascade"].parameters_for(1200, 2), FAMILIES["mddf"].parameters_for(1200, 2)
        ({'study': {'max_svms': 500}}, {})
        """
        if self.name != "cascade":
            return {}
        native = n_classes > MANY_CLASSES
        machines = _MACHINE_WORK / n_rows**2 / (1 if native else max(n_classes - 1, 1))
        parameters: dict[str, Any] = {"study": {"max_svms": int(min(max(machines, 30), 2000))}}
        if native:
            parameters["multiclass"] = "native"
        return parameters

    def parameter_names(self) -> list[str]:
        """Everything ``--set`` may name."""
        return sorted(getattr(surewood, self.estimator)().get_params(deep=False))


FAMILIES = {
    family.name: family
    for family in (
        Family("rcf", "random composite forest", "RandomCompositeForestClassifier"),
        Family("cascade", "deep SVM cascade", "DeepCascadeSVMClassifierCV"),
        Family("mddf", "margin deep forest", "MarginDeepForestClassifier"),
    )
}


class ModelName(StrEnum):
    """Values of ``--model``."""

    rcf = "rcf"
    cascade = "cascade"
    mddf = "mddf"
    auto = "auto"


@dataclass(frozen=True)
class RunSettings:
    """What the command line says about a fit, for any family."""

    seed: int = 0
    n_jobs: int = -1
    max_memory: int | None = None
    changes: Mapping[str, Any] | None = None
    verbose: int = 0

    def estimator(self, family: Family, n_rows: int = 1, n_classes: int = 2, *, strict: bool = True) -> Any:
        """An estimator for so many rows; with `strict` every change must be one of its parameters."""
        known = family.parameter_names()
        parameters: dict[str, Any] = {
            "random_state": self.seed,
            "n_jobs": self.n_jobs,
            "verbose": self.verbose,
            **family.parameters_for(n_rows, n_classes),
        }
        if self.max_memory is not None:
            if "max_memory" not in known and strict:
                raise Mistake(f"--model {family.name} has no memory limit; leave --max-memory out.")
            parameters["max_memory"] = self.max_memory
        for name, value in (self.changes or {}).items():
            if name not in known and strict:
                close = difflib.get_close_matches(name, known, n=3)
                hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(known)}."
                raise Mistake(f"--set {name}: {family.name} has no such parameter{hint}")
            parameters[name] = value
        return family.build({name: value for name, value in parameters.items() if name in known})


def families_of(model: ModelName, changes: Mapping[str, Any]) -> list[Family]:
    """The families to compare or to fit; a ``--set`` that no family knows is refused."""
    if model is not ModelName.auto:
        return [FAMILIES[model.value]]
    families = list(FAMILIES.values())
    known = {name for family in families for name in family.parameter_names()}
    for name in changes:
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=3)
            hint = f"; did you mean {' or '.join(close)}?" if close else "."
            raise Mistake(f"--set {name}: no family has such a parameter{hint}")
    return families


def parse_changes(words: Sequence[str]) -> dict[str, Any]:
    """``key=value`` words as parameters; values are read as Python values, else as text.

    Examples
    --------
    >>> parse_changes(["n_estimators=50", "degrees=[1, 2]", "selection=exact", "calibrate=false"])
    {'n_estimators': 50, 'degrees': [1, 2], 'selection': 'exact', 'calibrate': False}
    """
    changes: dict[str, Any] = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name.strip().isidentifier():
            raise Mistake(f"--set takes name=value, got {word!r}.")
        changes[name.strip()] = _value(value.strip())
    return changes


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
        raise Mistake(f"--max-memory takes a size such as 4GB or 500MB, got {text!r}.")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** " kmgt".index(found[2] or " "))
