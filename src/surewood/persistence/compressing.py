"""A model file deflated: entry by entry, in blocks that a progress display follows."""

from __future__ import annotations

import zipfile
from pathlib import Path

from surewood.parallel.progress import stage

_BLOCK = 1 << 20
_LEVEL = 4  # a forest comes out 7 % larger than at zlib's usual 6, in a quarter of the time


def deflate(stored: Path, target: Path, verbose: int = 0) -> None:
    """Write the entries of the archive `stored` to a new archive, compressed."""
    with (
        zipfile.ZipFile(stored) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
    ):
        entries = source.infolist()
        total = sum(entry.file_size for entry in entries)
        with stage(verbose, "compressing the model", max(total, 1)) as advance:
            for entry in entries:
                large = entry.file_size >= 1 << 30
                with source.open(entry) as data, archive.open(entry.filename, "w", force_zip64=large) as file:
                    while block := data.read(_BLOCK):
                        file.write(block)
                        advance(len(block))
