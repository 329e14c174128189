"""How the tests run the command: as a user does, in a process of its own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd

FIXED = {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}


def run(*arguments, folder=None, timeout=300, **environment):
    """Run ``surewood`` with these arguments; standard output and error are files, not terminals.

    Each run is a process of its own. With variables of the environment it starts from nothing, as a user's
    does; without, it is a fork of a process that has imported all modules (:mod:`.command_server`), where
    the system has forks.
    """
    words = [str(argument) for argument in arguments]
    variables = {**os.environ, **FIXED, **environment}
    if environment or not hasattr(os, "fork"):
        return run_afresh(*words, folder=folder, timeout=timeout, environment=variables)
    return _server().run(words, str(folder or os.getcwd()), variables, timeout)


@contextmanager
def running(*arguments, output, folder=None, **more):
    """A fork that runs ``surewood``, or with ``program=`` a text, while the caller does something to it.

    `output` is a terminal or a pipe that exists. Yields the number of the process and a function that waits
    for its exit code.
    """
    server, variables = _server(), {**os.environ, **FIXED, **more.pop("environment", {})}
    request = {"arguments": [str(argument) for argument in arguments], "folder": str(folder or os.getcwd())}
    files = {"stdout": str(output), "stderr": str(output)}
    child, codes = server.begin({**request, "environment": variables, **files, **more}), []

    def wait():
        codes.append(server.end())
        return codes[0]

    try:
        yield child, wait
    finally:
        if not codes:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            wait()


def run_afresh(*arguments, folder=None, timeout=300, environment=None):
    """Run ``surewood`` in a process that starts from nothing; standard output and error are pipes."""
    return subprocess.run(
        [sys.executable, "-m", "surewood", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=environment or {**os.environ, **FIXED},
        timeout=timeout,
    )


class _Server:
    """The process that forks a child for each command, and the files its children write."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.command_server"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **FIXED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.outputs = tempfile.TemporaryDirectory()
        atexit.register(self.close)

    def run(self, arguments, folder, environment, timeout):
        shown = {name: str(Path(self.outputs.name, name)) for name in ("stdout", "stderr")}
        request = {"arguments": arguments, "folder": folder, "environment": environment, **shown}
        overdue = threading.Timer(timeout, os.kill, (self.begin(request), signal.SIGKILL))
        overdue.start()
        code = self.end()
        overdue.cancel()
        texts = [Path(path).read_text(encoding="utf-8") for path in shown.values()]
        return subprocess.CompletedProcess(["surewood", *arguments], code, *texts)

    def begin(self, request):
        """Start a child; its number."""
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def end(self):
        """The exit code of the child, when it has ended."""
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.outputs.cleanup()


@functools.cache
def _server():
    return _Server()


def mistake(*arguments, **options):
    """The sentence that a user's mistake gets; asserts exit code 2, one line, no traceback."""
    shown = run(*arguments, **options)
    assert shown.returncode == 2, shown
    assert shown.stdout == ""
    assert "Traceback" not in shown.stderr
    lines = shown.stderr.splitlines()
    assert len(lines) == 1, shown.stderr
    assert lines[0].startswith("surewood: ")
    return lines[0].removeprefix("surewood: ")


def messy_frame(n=160, seed=0):
    """Mixed types, missing values, a date, a constant column, names that are not ASCII, an id."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    city = rng.choice(["Köln", "Århus", "Málaga"], n)
    joined = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D")
    income = np.round(rng.normal(3000, 900, n), 2)
    score = (age > 45) * 1.0 + (city == "Köln") + (joined > "2022-01-01") + rng.normal(0, 0.4, n)
    frame = pd.DataFrame(
        {
            "Kunden-Nr.": [f"K{number:05d}" for number in rng.permutation(n)],
            "Âge": age,
            "Stadt": city,
            "seit": joined.strftime("%Y-%m-%d"),
            "Einkommen €": income,
            "Land": "DE",
            "leer": np.nan,
            "treu?": np.where(score > 1.4, "ja", "nein"),
        }
    )
    frame.loc[rng.choice(n, n // 10, replace=False), "Âge"] = np.nan
    frame.loc[rng.choice(n, n // 10, replace=False), "Stadt"] = None
    frame.loc[rng.choice(n, 4, replace=False), "seit"] = None
    return frame


def write(frame: pd.DataFrame, path: Path, **options) -> Path:
    frame.to_csv(path, index=False, **options)
    return path


#: Small settings: the tests are about the command, not about accuracy.
QUICK = ("--model", "mddf", "--set", "n_estimators=5", "--set", "max_layers=2", "--n-jobs", "1")
