"""What a model says about itself, read through ``__report_facts__``; any other classifier has its name."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from surewood.estimators.describing import DescribesItself, ReportRows, report_facts, title_of
from surewood.report.model_step import last_step
from surewood.report.plain import plain
from surewood.report.predictions import Predictions

__all__ = ["model_facts"]


def model_facts(
    model: Any, judged: Predictions | None = None, *, is_holdout: bool = False, verbose: int = 0
) -> dict[str, Any]:
    """Title, description, key figures and sections of a fitted model, as plain values.

    Parameters
    ----------
    model : fitted classifier or pipeline
    judged : Predictions, optional
        Rows to show; without them only the key figures are given.
    is_holdout : bool
        Whether these rows were held out from training.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model_facts(DummyClassifier().fit([[0], [1]], [0, 1]))["title"]
    'Dummy'
    """
    core = last_step(model)
    if not isinstance(core, DescribesItself):
        return report_facts(title_of(type(core)), "")
    rows = None
    if judged is not None:
        known = judged.known()
        X = model[:-1].transform(known.X) if isinstance(model, Pipeline) else known.X
        rows = ReportRows(X, known.y, known.codes, is_holdout, verbose)
    found: dict[str, Any] = plain(core.__report_facts__(rows))
    return found
