"""How much memory is free, and freed memory that is kept for the next array while a bundle runs.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536, so that an idle worker is small. With it glibc
maps every array above 128 kB anew and the system clears its pages each time, which made our tasks take half
as long again. While a bundle runs the thresholds are what glibc would come to by itself; afterwards they are
Dask's again, and what is free goes back to the system.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager


def available_memory() -> int | None:
    """Bytes of memory at hand; None where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _page_cache()
    except (AttributeError, ValueError, OSError):
        return None


def _page_cache() -> int:
    """Bytes that the system would give back: on Linux, what it keeps of files."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    except (OSError, ValueError, IndexError):
        return 0
    return max(found.get("MemAvailable", 0) - found.get("MemFree", 0), 0)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of malloc.h
_KEPT, _MAPPED = 128 << 20, 32 << 20  # glibc's own limits for thresholds that adapt
_USUALLY_MAPPED = 128 << 10


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed memory inside, where the environment says to give it back at once and glibc listens."""
    wanted = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    library = ctypes.CDLL(None) if wanted.isdigit() and os.name == "posix" else None
    if library is None or not all(hasattr(library, name) for name in ("mallopt", "malloc_trim")):
        yield
        return
    library.mallopt(_MMAP_THRESHOLD, _MAPPED)
    library.mallopt(_TRIM_THRESHOLD, _KEPT)
    try:
        yield
    finally:
        library.mallopt(_TRIM_THRESHOLD, min(int(wanted), 2**31 - 1))
        library.mallopt(_MMAP_THRESHOLD, _USUALLY_MAPPED)
        library.malloc_trim(0)
