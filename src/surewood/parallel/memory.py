"""How much memory is free."""

from __future__ import annotations

import os


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
            sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    except (OSError, ValueError, IndexError):
        return 0
    return max(sizes.get("MemAvailable", 0) - sizes.get("MemFree", 0), 0)
