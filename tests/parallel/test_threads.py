"""Threads of this process: order, errors, no pool inside a pool."""

import threading
import time

import numpy as np
import pytest
from joblib import delayed, parallel_config

from surewood.parallel.threads import in_threads, run_in_threads, thread_count
from tests.parallel.hazards import failing


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


def test_functions_write_their_parts():
    out = np.zeros(20)
    run_in_threads((lambda k=k: out.__setitem__(k, k) for k in range(20)), 2)
    np.testing.assert_array_equal(out, np.arange(20))
