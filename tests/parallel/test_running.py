"""Ctrl-C during a threaded fit: a KeyboardInterrupt, never an abort of the interpreter."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from joblib import delayed

from surewood.parallel import run_tasks
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


def test_a_failing_task_raises_its_own_error_and_tells_the_others():
    stop = np.zeros(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="task 1 is wrong"):
        list(run_tasks((delayed(failing)(k) for k in range(8)), n_jobs=2, stop=stop))
    assert stop[0] == 1
