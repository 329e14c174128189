"""Trained blocks on disk: written once, mapped back, so that memory holds one block at a time.

:class:`SpillFolder` owns a folder. A temporary one disappears with the last estimator that uses it; a folder
that the user named stays. Pickling a spilled estimator copies the trees into the pickle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from surewood.deepforest.block import Block
from surewood.trees import FlatForest

#: Keeps a finished block under a name and returns it from where it is kept.
BlockStore: TypeAlias = Callable[[Block, str], Block]


def in_memory(block: Block, name: str) -> Block:
    """The block as it is."""
    return block


class SpillFolder:
    """A place for blocks.

    Parameters
    ----------
    path : str, Path or None
        None: a temporary folder.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="surewood-") if path is None else None
        self.path = str(path) if self._temporary is None else self._temporary.name
        Path(self.path).mkdir(parents=True, exist_ok=True)

    def store(self, block: Block, name: str) -> Block:
        """Write the trees of a block and return the block with its arrays mapped from disk."""
        models: list[Any] = []
        for number, model in enumerate(block.models):
            if isinstance(model, FlatForest):
                model = self._map(model, f"{name}-forest-{number}")
            models.append(model)
        return Block(models, block.n_classes)

    def _map(self, forest: FlatForest, name: str) -> FlatForest:
        values = {}
        for field in fields(forest):
            value = getattr(forest, field.name)
            if isinstance(value, np.ndarray) and value.size:  # an empty file cannot be mapped
                target = Path(self.path) / f"{name}-{field.name}.npy"
                np.save(target, value)
                value = np.asarray(np.load(target, mmap_mode="r"))  # a plain array, still mapped
            values[field.name] = value
        return FlatForest(**values)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_temporary": None}  # a pickle carries the arrays, not the folder
