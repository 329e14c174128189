"""Workers that die, run out of memory or vanish; Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import psutil
import pytest
from joblib import delayed
from sklearn.datasets import make_classification

import surewood
from surewood.parallel import WorkerLost, run_tasks
from tests.parallel.hazards import deadly, deadly_once, failing, hungry, note, runs

X, Y = make_classification(1500, 8, n_informative=6, n_classes=3, random_state=0)


@pytest.fixture
def on_processes(everything_remote):
    with joblib.parallel_config("loky", n_jobs=2):
        yield


ENGINES = [pytest.param(f"on_{name}", id=name) for name in ("dask", "ray", "processes")]
each_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_a_killed_worker_costs_its_unfinished_tasks_only(engine, request, tmp_path):
    request.getfixturevalue(engine)
    found = list(run_tasks([delayed(deadly_once)(str(tmp_path), k) for k in range(12)], -1))
    assert found == list(range(12))
    count = runs(tmp_path)
    assert count[3] >= 2
    assert sum(count.values()) <= 12 + 6


@each_engine
def test_workers_that_die_on_a_task_again_and_again_are_an_error_with_a_reason(engine, request):
    request.getfixturevalue(engine)
    with pytest.raises(WorkerLost, match="memory"):
        list(run_tasks([delayed(deadly)(k) for k in range(2)], -1))


@each_engine
def test_out_of_memory_is_said_to_be_that(engine, request):
    request.getfixturevalue(engine)
    with pytest.raises(MemoryError, match=r"a worker on \S+ ran out of memory"):
        list(run_tasks([delayed(hungry)(k) for k in range(3)], -1))


# Ray's own monitor stops tasks where more of the machine's memory is in use than a share that any machine
# passes; a process of its own, since the session of the other tests has another share.
STOPPED_BY_RAY = """
import joblib, ray
from joblib import delayed
from ray.util.joblib import register_ray
from tests.parallel.hazards import gluttonous
from surewood.parallel import WorkerLost, run_tasks

limits = {"memory_usage_threshold": 1e-4, "memory_monitor_refresh_ms": 50, "task_oom_retries": 0}
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20,
         _system_config=limits)
register_ray()
with joblib.parallel_config("ray"):
    try:
        list(run_tasks([delayed(gluttonous)(1) for _ in range(2)], -1))
    except WorkerLost as error:
        print(error)
ray.shutdown()
"""


@pytest.mark.slow  # starts a cluster
def test_a_ray_worker_stopped_by_the_memory_monitor_is_said_to_be_that():
    pytest.importorskip("ray")
    shown = subprocess.run(
        [sys.executable, "-c", STOPPED_BY_RAY], capture_output=True, text=True, timeout=300
    )
    assert shown.stdout.startswith(
        "workers died again and again on the same task, most likely for lack of memory"
    ), shown.stderr


@each_engine
def test_an_error_in_a_task_is_raised_here_as_it_was_there(engine, request):
    request.getfixturevalue(engine)
    with pytest.raises(ValueError, match=r"^task 1 is wrong$"):
        list(run_tasks([delayed(failing)(k) for k in range(3)], -1))


def forest():
    return surewood.BinnedForestClassifier(1500, max_features=8, random_state=0)


def kill_one(find):
    """A thread that kills a worker as soon as `find` names one that is busy."""
    killed = []

    def watch():
        deadline = time.monotonic() + 60
        while not killed and time.monotonic() < deadline:
            pid = find()
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.01)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread, killed


def check_fit_with_a_murder(find):
    alone = forest().fit(X, Y)
    thread, killed = kill_one(find)
    model = forest().fit(X, Y)
    thread.join()
    assert killed
    for own, other in zip(alone.forest_.arrays, model.forest_.arrays):
        np.testing.assert_array_equal(own, other)


def test_a_dask_worker_is_killed_during_a_fit(on_dask):
    pids = on_dask.run(os.getpid)

    def busy():
        return next((pids.get(worker) for worker, tasks in on_dask.processing().items() if tasks), None)

    check_fit_with_a_murder(busy)


def test_a_ray_worker_is_killed_during_a_fit(on_ray):
    def busy():
        for process in psutil.Process().children(recursive=True):
            try:
                if process.cmdline()[0].startswith("ray::surewood"):
                    return process.pid
            except (psutil.Error, IndexError):
                continue
        return None

    check_fit_with_a_murder(busy)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_ctrl_c_cancels_remote_tasks(engine, request, tmp_path):
    request.getfixturevalue(engine)
    timer = interrupt_after(1.0)
    with pytest.raises(KeyboardInterrupt):
        list(run_tasks([delayed(note)(str(tmp_path), k, 0.5) for k in range(60)], -1))
    timer.join()
    time.sleep(2.5)  # for those that were begun
    before = sum(runs(tmp_path).values())
    time.sleep(0.7)
    assert sum(runs(tmp_path).values()) == before < 60


@pytest.mark.slow  # starts a cluster
def test_a_lost_scheduler_ends_with_one_sentence(everything_remote, tmp_path):
    distributed = pytest.importorskip("distributed")
    address = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
               "--scheduler-file", str(address)]  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(command, **quiet)
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1",
         "--no-dashboard", "--scheduler-file", str(address)],
        **quiet,
    )  # fmt: skip
    try:
        with distributed.Client(scheduler_file=str(address), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            threading.Timer(1.0, scheduler.kill).start()
            with (
                joblib.parallel_config("dask", client=client),
                pytest.raises(WorkerLost, match="cannot be reached any more"),
            ):
                list(run_tasks([delayed(note)(str(tmp_path), k, 0.2) for k in range(100)], -1))
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
