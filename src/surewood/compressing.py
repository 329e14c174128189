"""Progress while a model is written: arrays are deflated block by block, and every block is told.

skops writes an array by one call of its archive's ``writestr``, which takes minutes for a large forest.
`telling` lets it use an archive that does the same in blocks; the file is the same.
"""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from surewood.progress import Advance, stage

_BLOCK = 1 << 20


@contextmanager
def telling(verbose: int, model: Any) -> Iterator[None]:
    """Show how much of a model's arrays ``skops.io.dump`` has written inside; nothing unless `verbose`."""
    if verbose < 1:
        yield
        return
    from skops.io import _persist

    usual = _persist.ZipFile
    with stage(verbose, "compressing the model", max(array_bytes(model), 1)) as advance:
        _persist.ZipFile = _archive(usual, advance)
        try:
            yield
        finally:
            _persist.ZipFile = usual


def array_bytes(model: Any) -> int:
    """Bytes of all arrays of a model, without copying them; 0 where the model cannot be looked through.

    Examples
    --------
    >>> import numpy as np
    >>> array_bytes({"a": np.zeros(1000), "b": [np.ones(500)]})
    12000
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    except Exception:  # whatever cannot be pickled: the share is then not known
        return 0
    return sum(buffer.raw().nbytes for buffer in buffers)


def _archive(usual: type[zipfile.ZipFile], advance: Advance) -> type[zipfile.ZipFile]:
    class Telling(usual):  # type: ignore[misc, valid-type]
        def writestr(self, name: str, data: Any, *options: Any, **more: Any) -> None:
            if isinstance(data, str) or options or more or len(data) <= _BLOCK:
                super().writestr(name, data, *options, **more)
                advance(0 if isinstance(data, str) else len(data))
                return
            member = zipfile.ZipInfo(name)
            member.compress_type, member.file_size = self.compression, len(data)
            member._compresslevel = self.compresslevel  # type: ignore[attr-defined]
            with self.open(member, "w") as file:
                for begin in range(0, len(data), _BLOCK):
                    block = data[begin : begin + _BLOCK]
                    file.write(block)
                    advance(len(block))

    return Telling
