"""Where a number comes from: versions, machine, and the memory it took."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

_PACKAGES = ("surewood", "numpy", "scipy", "scikit-learn", "pandas", "xgboost-cpu", "xgboost")
_STATUS = Path("/proc/self/status")
#: Paths of the checkout, from its top; records and pages may change while a run goes on.
_RESULTS_DEPEND_ON = (":/src", ":/core", ":/CMakeLists.txt", ":/papers/*/protocol.toml")


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on, and the commit of a checkout."""
    found = {"python": platform.python_version(), "commit": commit()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """The commit of the checkout that this code runs from, + where files were changed; else nothing."""
    here = Path(__file__).resolve().parent
    git = ["git", "-C", str(here)]
    try:
        answers = [
            subprocess.run([*git, *words], capture_output=True, text=True, timeout=10, check=True).stdout
            for words in (
                ("ls-files", "--error-unmatch", __file__),  # not the repository of somebody's environment
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--untracked-files=no", "--", *_RESULTS_DEPEND_ON),
            )
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return answers[1].strip() + ("+" if answers[2].strip() else "")


@cache
def machine() -> str:
    """System, processor type and cores, in a few words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def forget_peak_memory() -> None:
    """Start measuring the peak anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # elsewhere the peak is that of the whole process, see `peak_memory`


def peak_memory() -> int | None:
    """Largest resident size in bytes since :func:`forget_peak_memory`; None where it is unknown."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
        if found:
            return 1024 * int(found[1])
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)
