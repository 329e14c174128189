"""The peak of resident memory over a stretch of work (Linux): the counter is set back at its beginning."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

CAN_MEASURE = Path("/proc/self/clear_refs").exists()


def peak_of(work: Callable[[], Any]) -> tuple[int, Any]:
    """Bytes that `work` adds at its peak, and its result.

    Memory freed before is returned to the system first, so that it cannot be reused unseen. For a process of
    its own: what other threads do counts too.
    """
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    result = work()
    return _status("VmHWM") - before, result


def _status(entry: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(entry)))
