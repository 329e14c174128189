"""A process that has imported everything once and forks a child for each command of the tests.

Most of the time of a small command is the import of pandas, pyarrow, scikit-learn, SciPy and surewood. Each
child is a process of its own that runs ``python -m surewood``, or the text of a program; only the modules
are there already. ``run_afresh`` (:mod:`.command`) starts a command from nothing.
Requests are lines of JSON on standard input, answers are exit codes on standard output.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import runpy
import signal
import sys
import threading
import traceback

import surewood

HEAVY = (
    "numpy",
    "pandas",
    "pyarrow.csv",
    "pyarrow.compute",
    "pyarrow.parquet",
    "rich.console",
    "rich.progress",
    "rich.table",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "sklearn.base",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "typer",
)


def _child(request: dict) -> None:
    """Become the command: its folder, its output files, its arguments; never returns."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP):  # whoever started the tests may ignore them, as nohup does
        signal.signal(number, signal.SIG_DFL)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["surewood", *request["arguments"]]
    code: object = 1
    try:
        if "program" in request:
            exec(request["program"], {"__name__": "__main__"})
        else:
            runpy.run_module("surewood", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def serve() -> None:
    """Answer requests until standard input ends."""
    ours = [module.name for module in pkgutil.walk_packages(surewood.__path__, "surewood.")]
    for name in (*HEAVY, *ours):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _child(json.loads(line))
        print(child, file=answers, flush=True)  # so that a command that takes too long can be ended
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        print(code, file=answers, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    serve()
