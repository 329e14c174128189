"""Public tables where they are, a message where they are not; the same generated cases for everybody."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A change is judged by cases that do not change; SUREWOOD_EXPLORE=1 draws new ones, as `make fuzz` does. No
# deadline an example: properties are about values, not about how busy the machine is.
settings.register_profile("surewood", deadline=None, derandomize=not os.environ.get("SUREWOOD_EXPLORE"))
settings.load_profile("surewood")

# Some tests interrupt themselves or programs they start. Background jobs of a shell ignore Ctrl-C, and what
# they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# `make test` runs two processes; more threads of OpenMP and BLAS than cores wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Lets scikit-learn's suite run its array API checks; SciPy reads it when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_collection_modifyitems(config, items):
    folder = os.environ.get("SUREWOOD_DATA", "").strip()
    if folder and Path(folder).is_dir():
        return
    absent = pytest.mark.skip(reason="needs real data: set SUREWOOD_DATA to the folder of Parquet files")
    for item in items:
        if "needs_data" in item.keywords:
            item.add_marker(absent)


#: Long files without fitted models to share: their tests go to whichever process is free.
DIVIDED = ("test_sklearn_checks.py", "test_fuzz.py", "test_guarantees.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a file run in one process, so that what they share is fitted or started once."""
    from xdist.scheduler import LoadScopeScheduling

    class FilesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            if "tests/parallel/" in nodeid:
                for engine in ("dask", "ray"):
                    if engine in nodeid:
                        return engine
            return nodeid if file.endswith(DIVIDED) else file

    return FilesTogether(config, log)
