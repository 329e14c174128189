"""Ctrl-C during a threaded fit: a KeyboardInterrupt, never an abort of the interpreter.

Threads of this process: order, errors, no pool inside a pool.

Blocks of rows: the same arrays in threads and elsewhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from joblib import delayed, parallel_config

from surewood.parallel import over_rows
from surewood.parallel.running import in_threads, thread_count
from tests.parallel.hazards import failing

PROGRAM = """
import numpy as np
import surewood
rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 20))
y = rng.integers(0, 2, 6000)
model = surewood.{model}
print("ready", flush=True)
while True:  # a fast machine may end a fit before it is interrupted
    model.fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "model",
    ["BinnedForestClassifier(100000, n_jobs=2)", "PolySVC(degree=9, C=1e6, max_iter=10**9, n_jobs=2)"],
)
def test_ctrl_c_ends_with_a_keyboard_interrupt(model):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(model=model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in error
    assert "Fatal Python error" not in error
    assert process.returncode in (-signal.SIGINT, 130, 1)


def test_results_come_in_order_whatever_takes_long():
    def slow_first(k):
        time.sleep(0.05 if k == 0 else 0.0)
        return k

    tasks = (delayed(slow_first)(k) for k in range(40))
    assert list(in_threads(tasks, 3, ahead=2)) == list(range(40))


def test_few_tasks_are_begun_ahead_of_the_one_that_is_taken():
    begun = []
    results = in_threads((delayed(begun.append)(k) for k in range(100)), 2, ahead=3)
    next(results)
    time.sleep(0.1)
    assert len(begun) <= 7
    results.close()
    assert len(begun) <= 7


def test_an_error_stops_the_others():
    stop = np.zeros(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="task 1 is wrong"):
        list(in_threads((delayed(failing)(k) for k in range(100)), 2, ahead=4, stop=stop))
    assert stop[0] == 1
    assert not any(thread.name.startswith("surewood") for thread in threading.enumerate())


def test_a_task_does_its_own_work_by_itself():
    assert thread_count(2) == 2
    assert list(in_threads((delayed(thread_count)(4) for _ in range(3)), 2, ahead=4)) == [1, 1, 1]


def test_the_number_of_threads_is_the_callers():
    with parallel_config("threading", n_jobs=3):
        assert thread_count(None) == 3
    assert thread_count(None) == 1
    assert thread_count(-1) >= 1


def double(factor, rows, out, counts):
    out[:] = factor * rows
    counts[:] = len(rows)


def doubled(n_jobs=None):
    X = np.arange(70.0).reshape(35, 2)
    out, counts = np.zeros((35, 2)), np.zeros(35, dtype=np.int32)
    over_rows(double, (2.0,), lambda a, b: (X[a:b],), [out, counts], n_rows=35, rows_a_task=10, n_jobs=n_jobs,
              seconds_a_row=1e-6)  # fmt: skip
    return out, counts


def test_threads():
    for n_jobs in (1, 2):
        out, counts = doubled(n_jobs)
        np.testing.assert_array_equal(out, 2.0 * np.arange(70.0).reshape(35, 2))
        assert counts.tolist() == [10] * 30 + [5] * 5


def fail(rows, out):
    raise ValueError("bad rows")


def test_a_failing_block_tells_the_others():
    stop = np.zeros(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="bad rows"):
        over_rows(fail, (), lambda a, b: (a,), [np.zeros(9)], n_rows=9, rows_a_task=2, n_jobs=2,
                  seconds_a_row=1e-6, stop=stop)  # fmt: skip
    assert stop[0] == 1


def test_on_dask(on_dask):
    for own, other in zip(doubled(), doubled(1)):
        np.testing.assert_array_equal(own, other)


def test_little_work_is_not_sent(monkeypatch):
    with joblib.parallel_config("loky", n_jobs=2):
        out, _ = doubled()
    np.testing.assert_array_equal(out, doubled(1)[0])
