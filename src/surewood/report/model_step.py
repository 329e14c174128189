"""The classifier inside a pipeline or behind a rule of decision."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from surewood.certify.deciding import DecidingClassifier

__all__ = ["last_step"]


def last_step(model: Any, *, with_rule: bool = False) -> Any:
    """The classifier at the end of a pipeline, without its rule of decision by default.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> last_step(make_pipeline("passthrough", DummyClassifier()))
    DummyClassifier()
    """
    if isinstance(model, Pipeline):
        return last_step(model.steps[-1][1], with_rule=with_rule)
    if isinstance(model, DecidingClassifier) and not with_rule:
        return last_step(model.model)
    return model
