"""Labels as class codes of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_codes"]


def class_codes(classes: Any, y: Any) -> NDArray[np.int64]:
    """Positions of labels in `classes`.

    Examples
    --------
    >>> class_codes(["a", "b"], ["b", "a"]).tolist()
    [1, 0]
    """
    place = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(y).ravel().tolist()
    unknown = [label for label in labels if label not in place]
    if unknown:
        raise ValueError(f"y has labels that the model was not trained on, such as {unknown[0]!r}.")
    return np.array([place[label] for label in labels], dtype=np.int64)
