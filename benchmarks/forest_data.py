"""The data sets of the forest benchmark as float32 matrices, categories as codes: the same for everybody."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd


def load(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test part of the official split."""
    frame = pd.read_parquet(Path(os.environ["SUREWOOD_DATA"]) / f"{name}.parquet")
    train = (frame["split"] == "train").to_numpy()
    columns = frame.drop(columns=["target", "split"])
    matrix = np.column_stack(
        [
            column.to_numpy(np.float32)
            if pd.api.types.is_numeric_dtype(column)
            else column.astype("category").cat.codes.to_numpy(np.float32)
            for _, column in columns.items()
        ]
    )
    y = np.unique(frame["target"], return_inverse=True)[1]
    return matrix[train], y[train], np.ascontiguousarray(matrix[~train]), y[~train]
