"""What all displays share: matplotlib only when something is drawn, axes, and the colours of the pages."""

from __future__ import annotations

from typing import Any

__all__ = ["BARK", "LEAF", "PEER", "PLUM", "SKY", "new_axes", "pyplot", "tidy"]

LEAF, SKY, BARK, PLUM, PEER = "#2f7d4f", "#3b72b0", "#b0703a", "#8a4f8f", "#868c96"


def pyplot() -> Any:
    """matplotlib.pyplot, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "the displays of surewood.inspect draw with matplotlib, which is not installed; "
            "get it with: pip install 'surewood[plots]'"
        ) from error
    return plt


def new_axes(ax: Any, n: int = 1, **options: Any) -> tuple[Any, Any]:
    """Figure and axes: those given, else new ones (`n` side by side, an array where more than one)."""
    if ax is None:
        figure, made = pyplot().subplots(1, n, layout="constrained", **options)
        return figure, made
    first = ax if n == 1 else ax[0]
    return first.figure, ax


def tidy(ax: Any) -> None:
    """No frame above and on the right, a quiet grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)
