"""What a plot needs of a model, asked for by name; one sentence for models that do not offer it.

=================== =====================================================================================
``leaf_terms``      ``(part) -> (DataFrame, gamma_scale)``: the leaf ledger of a tree or cascade
``leaf_degrees``    ``(X) -> ndarray (n, parts)``: degree of the leaf that classifies each row
``leaf_flow``       ``(X, y) -> dict of str to list of Exit``: rows that leave at each leaf
``layer_table``     ``(X, y, stages) -> DataFrame``: one row per layer
``staged_margins``  ``(X, codes) -> dict of str to ndarray``: margins after each layer
=================== =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["method_of"]


def method_of(model: Any, name: str, needed: str) -> Callable[..., Any]:
    """A method of the model; `needed` says in words what is missing where there is none.

    Examples
    --------
    >>> method_of(object(), "layer_table", "layers")
    Traceback (most recent call last):
    ValueError: object has no layers to show.
    """
    method = getattr(model, name, None)
    if not callable(method):
        raise ValueError(f"{type(model).__name__} has no {needed} to show.")
    found: Callable[..., Any] = method
    return found
