"""Real data where it is, a message where it is not; the same generated cases for everybody."""

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests that share a cluster run in one process of pytest-xdist, so that it is started once."""
    from xdist.scheduler import LoadScopeScheduling

    class ClusterTestsTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if "tests/parallel/" in nodeid:
                for engine in ("dask", "ray"):
                    if engine in nodeid:
                        return engine
            return nodeid

    return ClusterTestsTogether(config, log)
