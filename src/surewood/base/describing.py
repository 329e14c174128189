"""How a fitted model describes itself: the vocabulary of ``__report_facts__`` and its companions.

A classifier may implement any of these; nothing outside its own folder knows which family it belongs to:

``__report_facts__(rows)``
    Dictionary of :func:`report_facts`: title, description, key figures, and sections of charts and tables
    that are drawn by their kind. `rows` is a :class:`ReportRows`, or None for the key figures alone.
``__explanation_steps__(explained)``
    One entry of ``explain`` as a list of :func:`step`, in the order of the decision.
``settings_for(n_rows, n_classes)``
    Parameters to use for a sample of this size (static method).
``max_training_rows``
    Number of training rows above which the cost of a fit is no longer reasonable; None: no limit.

Plots ask for ``leaf_terms``, ``leaf_degrees``, ``leaf_flow``, ``layer_table`` and ``staged_margins``; see
:mod:`surewood.inspect`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Facts: TypeAlias = dict[str, Any]
Style = Literal["number", "percent", "text"]
Tone = Literal["main", "second", "third", "fourth", "other"]


@dataclass(frozen=True)
class ReportRows:
    """Labelled rows on which a model describes itself."""

    #: Every label is one of the model's classes.
    X: Any
    y: NDArray[Any]
    #: Positions of the labels in ``classes_``.
    codes: NDArray[np.int64]
    #: Whether the rows were held out from training.
    is_holdout: bool
    #: Above 0, long work reports its progress.
    verbose: int = 0

    def __len__(self) -> int:
        return len(self.codes)

    def sample(self, limit: int) -> ReportRows:
        """At most `limit` of the rows, always the same ones."""
        if len(self) <= limit:
            return self
        rows = sample_rows(len(self), limit)
        return replace(self, X=take_rows(self.X, rows), y=np.asarray(self.y)[rows], codes=self.codes[rows])


@runtime_checkable
class DescribesItself(Protocol):
    """A fitted model with more to show than its predictions."""

    def __report_facts__(self, rows: ReportRows | None) -> Facts:
        """Return title, description, key figures and sections; see :func:`report_facts`."""
        ...


@runtime_checkable
class ExplainsInSteps(Protocol):
    """A fitted model that words its own explanations."""

    def __explanation_steps__(self, explained: Mapping[str, Any]) -> list[Facts]:
        """Return one entry of ``explain`` as a list of :func:`step`."""
        ...


@dataclass(frozen=True)
class Exit:
    """One leaf of a cascade, and the rows that meet it.

    Attributes
    ----------
    leaf : int
    degree : int or str
        Degree of the SVM, or the kind of classifier.
    arrive, points : int
        Rows that reach the leaf, and rows that are classified there.
    accuracy : float or None
        Of those that are classified there; None without labels or rows.
    threshold : float or None
        Rows at this distance or nearer go on; None at the last leaf.
    kernel_values : int or None
        Kernel values computed for a row that is classified here.

    Examples
    --------
    >>> first = Exit(1, degree=2, arrive=200, points=180, accuracy=0.95, threshold=0.3, kernel_values=40)
    >>> first.arrive - first.points
    20
    """

    leaf: int
    degree: int | str
    arrive: int
    points: int
    accuracy: float | None
    threshold: float | None
    kernel_values: int | None


def report_facts(
    title: str, description: str, figures: Sequence[Facts] = (), sections: Sequence[Facts] = ()
) -> Facts:
    """What ``__report_facts__`` returns.

    Parameters
    ----------
    title, description : str
        Name of the kind of model, and one sentence on how it works.
    figures : list of :func:`figure`
        Key figures.
    sections : list of :func:`section`
        Charts and tables.

    Examples
    --------
    >>> facts = report_facts("Stump", "One split.", [figure("splits", 1)])
    >>> facts["title"], facts["figures"][0]["value"]
    ('Stump', 1)
    """
    return {
        "title": title,
        "description": description,
        "figures": list(figures),
        "sections": list(sections),
    }


def figure(
    label: str, value: Any, style: Style = "number", word: str | None = None, digits: int = 2
) -> Facts:
    """A key figure with its label; `word` is GUARANTEE, CRITERION, ESTIMATE or HEURISTIC."""
    return {"label": label, "value": value, "style": style, "word": word, "digits": digits}


def section(title: str, blocks: Sequence[Facts], text: str = "", layout: str = "grid") -> Facts:
    """Blocks under a heading; `layout` is "grid" (two columns) or "three" (three columns)."""
    return {"title": title, "text": text, "blocks": list(blocks), "layout": layout}


def paragraph(title: str, lines: Sequence[str], caption: str = "") -> Facts:
    """Text in a box."""
    return {"kind": "text", "title": title, "lines": list(lines), "caption": caption}


def table(name: str, columns: Sequence[Facts], rows: Sequence[Sequence[Any]], search: bool = False) -> Facts:
    """A table; `columns` are dictionaries of :func:`column`."""
    return {
        "kind": "table",
        "title": name,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "search": search,
    }


def column(name: str, kind: str = "number", digits: int | None = None, wide: bool = False) -> Facts:
    """A column of a table: `kind` is "number" or "text"."""
    described: Facts = {"name": name, "kind": kind, "wide": wide}
    return described if digits is None else {**described, "digits": digits}


def series(
    name: str, values: Sequence[Any], tone: Tone = "main", hints: Sequence[str] | None = None
) -> Facts:
    """Values of a bar or line chart; `hints` are shown when one points at a value."""
    return {
        "name": name,
        "values": list(values),
        "tone": tone,
        "hints": None if hints is None else list(hints),
    }


def chart(
    kind: Literal["bars", "lines", "points", "flow", "icicle"],
    title: str,
    variants: Sequence[Facts],
    *,
    caption: str = "",
    choose: str = "choose",
    wide: bool = False,
    **options: Any,
) -> Facts:
    """A chart, drawn by its kind.

    Parameters
    ----------
    kind : {"bars", "lines", "points", "flow", "icicle"}
        * ``bars``: a variant has ``names`` and ``series``; options ``y_title``.
        * ``lines``: ``x`` and ``series``, optional ``labels`` of the points and ``highlight`` (their
          positions); options ``x_title``, ``y_title``, ``y_format`` ("percent" or "number"), ``mark`` (a
          position with a dotted line) and ``steps``.
        * ``points``: ``x``, ``y``, ``codes``; option ``classes``.
        * ``flow``: ``stages``, dictionaries with ``label``, ``arrive``, ``points``, ``accuracy``,
          ``threshold``.
        * ``icicle``: ``nodes``, dictionaries with ``id``, ``parent`` (None at the root), ``label``,
          ``value``, ``text``, ``hints`` ``depth`` and ``level`` (0, 1, ... the darker; None: inner).
    variants : list of dict
        Data, each with a ``name``; the reader chooses among them where there are several.
    caption, choose : str
    wide : bool
        Whether the chart needs the full width.
    """
    return {
        "kind": kind,
        "title": title,
        "caption": caption,
        "choose": choose,
        "wide": wide,
        "variants": list(variants),
        **options,
    }


def step(title: str, lines: Sequence[str], support: Sequence[Mapping[str, Any]] = ()) -> Facts:
    """A step of an explanation; `support` are training rows with ``row``, ``label`` and ``distance``."""
    return {"title": title, "lines": list(lines), "support": list(support)}


def support_steps(explained: Mapping[str, Any]) -> list[Facts]:
    """The step of the nearest support vectors, where an explanation has some."""
    support = explained.get("support")
    return [step("Nearest support vectors", [], support)] if support else []


def title_of(kind: type) -> str:
    """Name of an estimator class in words: its ``_title``, where it has one, or the words of its name.

    Examples
    --------
    >>> class MarginDeepForestClassifierCV: ...
    >>> class DeepCascadeSVMClassifier: ...
    >>> title_of(MarginDeepForestClassifierCV), title_of(DeepCascadeSVMClassifier)
    ('Margin deep forest', 'Deep cascade SVM')
    """
    if hasattr(kind, "_title"):
        return str(kind._title)
    name = kind.__name__.removesuffix("CV").removesuffix("Classifier")
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name) or [name]
    first, *others = (word if word.isupper() and len(word) > 1 else word.lower() for word in words)
    return " ".join([first[:1].upper() + first[1:], *others])


def sample_rows(n: int, limit: int) -> NDArray[np.int64]:
    """Sorted row numbers, at most `limit` of `n`, always the same ones.

    Examples
    --------
    >>> sample_rows(3, 10).tolist(), len(sample_rows(100, 7))
    ([0, 1, 2], 7)
    """
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, limit, replace=False))


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of a frame (pandas or polars), an array, a sparse matrix or nested lists."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X, dtype=object)[rows]


def short(value: Any, limit: int = 60) -> str:
    """Text of at most `limit` characters, on one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
