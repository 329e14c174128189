"""Tasks that workers of other processes import: some of them deadly."""

import os
import signal
import time
from pathlib import Path

import numpy as np

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # any signal ends a process of Windows at once


def note(folder, k, seconds=0.0):
    """Leave a trace of every run of task `k`."""
    with open(Path(folder) / f"task-{k}", "a") as file:
        file.write("x")
    time.sleep(seconds)
    return k


def runs(folder):
    """How often each task was run."""
    return {int(path.name[5:]): len(path.read_text()) for path in Path(folder).glob("task-*")}


def deadly_once(folder, k):
    """The first time, the worker is killed in the middle of the task."""
    if runs(folder).get(k, 0) == 0 and k == 3:
        note(folder, k)
        os.kill(os.getpid(), KILL)
    return note(folder, k, 0.05)


def deadly(k):
    if k == 1:
        os.kill(os.getpid(), KILL)
    return k


def hungry(k):
    return np.zeros(1 << 60, dtype=np.uint8) if k == 1 else k


def failing(k):
    if k == 1:
        raise ValueError("task 1 is wrong")
    return k


def total(table, k):
    return float(table[k].sum())


def given_back(table):
    return table, table[:2].copy()


def gluttonous(k, most=1 << 30):
    """Takes more and more memory, slowly enough to be seen, until somebody stops it."""
    held = []
    while k == 1 and len(held) << 23 < most:
        held.append(np.ones(1 << 20))
        time.sleep(0.02)
    return k
