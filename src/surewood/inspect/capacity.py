"""Which region uses which degree: `row_degrees` and `CapacityMapDisplay`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.inspect.drawing import new_axes, pyplot
from surewood.inspect.model_data import method_of

__all__ = ["CapacityMapDisplay", "row_degrees"]


def row_degrees(model: Any, X: Any, part: int | None = None) -> NDArray[np.float64]:
    """Degree of the leaf that decides each row.

    Parameters
    ----------
    model : fitted composite tree, composite forest or SVM cascade
        Any classifier with a method ``leaf_degrees``.
    X : table
    part : int, optional
        One tree of a forest, or one of the cascades; by default the mean over all.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    >>> from surewood.inspect import row_degrees
    >>> row_degrees(tree, X).shape
    (150,)
    """
    degrees = method_of(model, "leaf_degrees", "degrees")(X)
    if part is None:
        return np.asarray(degrees.mean(axis=1), dtype=np.float64)
    if not 0 <= part < degrees.shape[1]:
        raise ValueError(f"part must be between 0 and {degrees.shape[1] - 1}, got {part}.")
    return np.asarray(degrees[:, part], dtype=np.float64)


class CapacityMapDisplay:
    """A map of two columns, coloured by the degree of the leaf that decides there.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (k, k)
        The grid.
    degree : ndarray of shape (k, k)
    names : tuple of str
        The two columns.
    points : ndarray of shape (n, 2), optional
        Rows to draw on the map.

    Attributes
    ----------
    ax_, figure_, surface_ : matplotlib Axes, Figure and mesh

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import CompositeTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    >>> row_degrees(tree, X[[0, 149]]).tolist()
    [0.0, 2.0]
    """

    def __init__(
        self,
        xx0: NDArray[np.float64],
        xx1: NDArray[np.float64],
        degree: NDArray[np.float64],
        *,
        names: tuple[str, str],
        points: NDArray[np.float64] | None = None,
    ) -> None:
        self.xx0, self.xx1, self.degree = xx0, xx1, degree
        self.names, self.points = names, points

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[Any, Any] = (0, 1),
        part: int | None = None,
        grid_resolution: int = 80,
        ax: Any = None,
    ) -> CapacityMapDisplay:
        """Draw the map of a fitted model.

        Parameters
        ----------
        estimator : fitted composite tree, composite forest or SVM cascade
        X : table
            Its range is drawn; all other columns are set to their median or most frequent value.
        features : pair of positions or names, default=(0, 1)
            Two numeric columns.
        part : int, optional
            One tree of a forest, or one of the cascades; by default the mean over all.
        grid_resolution : int, default=80
        ax : matplotlib Axes, optional
        """
        pyplot()
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        columns = [_position(frame, feature) for feature in features]
        if len(columns) != 2:
            raise ValueError(f"features must be two columns, got {len(columns)}.")
        axes = [_span(frame, j, grid_resolution) for j in columns]
        xx0, xx1 = np.meshgrid(*axes)
        typical = pd.DataFrame({i: _typical(frame.iloc[:, i], xx0.size) for i in range(frame.shape[1])})
        typical.columns = frame.columns
        for j, values in zip(columns, (xx0, xx1)):
            typical.isetitem(j, values.ravel())
        grid = typical if isinstance(X, pd.DataFrame) else typical.to_numpy()
        degree = row_degrees(estimator, grid, part).reshape(xx0.shape)
        names = tuple(str(frame.columns[j]) if isinstance(X, pd.DataFrame) else f"x{j}" for j in columns)
        points = frame.iloc[:, columns].to_numpy(dtype=np.float64)
        return cls(xx0, xx1, degree, names=(names[0], names[1]), points=points).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: str = "YlGn", **mesh: Any) -> CapacityMapDisplay:
        """Draw; returns itself."""
        self.figure_, self.ax_ = new_axes(ax)
        options = {"cmap": cmap, "shading": "auto", "vmin": 0, "vmax": self.degree.max() + 1.5, **mesh}
        self.surface_ = self.ax_.pcolormesh(self.xx0, self.xx1, self.degree, **options)
        if self.points is not None:
            self.ax_.scatter(*self.points.T, s=6, color="0.15", alpha=0.5, linewidths=0)
        bar = self.figure_.colorbar(self.surface_, ax=self.ax_, label="degree of the deciding leaf")
        bar.ax.set_ylim(0, max(1.0, self.degree.max()))
        self.ax_.set_xlabel(self.names[0], parse_math=False)
        self.ax_.set_ylabel(self.names[1], parse_math=False)
        return self


def _position(frame: pd.DataFrame, feature: Any) -> int:
    if isinstance(feature, int | np.integer) and 0 <= feature < frame.shape[1]:
        return int(feature)
    found = [j for j, name in enumerate(frame.columns) if name == feature]
    if not found:
        raise ValueError(f"features has {feature!r}, which is not a column of X.")
    return found[0]


def _span(frame: pd.DataFrame, j: int, k: int) -> NDArray[np.float64]:
    column = frame.iloc[:, j]
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise ValueError(f"features must be numeric columns; {frame.columns[j]!r} is not.")
    low, high = float(column.min()), float(column.max())
    pad = 0.03 * (high - low or 1.0)
    return np.linspace(low - pad, high + pad, k)


def _typical(column: pd.Series, n: int) -> pd.Series:
    """The median of numbers, else the most frequent value, `n` times and of the same type."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(np.full(n, float(column.median())))
    mode = column.mode()
    row = column.index[0] if mode.empty else column.index[(column == mode.iloc[0]).to_numpy().argmax()]
    return column.loc[[row] * n].iloc[:n].reset_index(drop=True)
