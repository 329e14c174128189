"""A leaf far larger than the cache of kernel rows: the same machine, in bounded memory."""

import subprocess
import sys

import numpy as np
import pytest

from surewood.svm import Gram, KernelSpec, solve_many

RUN = """
import resource
import numpy as np
from surewood.svm import Gram, KernelSpec, solve_many

rng = np.random.default_rng(0)
labels = np.arange(20_000, dtype=np.int32) % 2
X = rng.normal(size=(20_000, 3)) + 5.0 * labels[:, None]
gram = Gram(X, max_memory=1 << 20)
def solve(n, cache):
    return solve_many(gram, [np.arange(n)], labels, [2], 1.0, kernel=KernelSpec("poly", 0.3, 1.0),
                      cache_size=cache, max_iter=100_000)
solve(500, 1 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
machines = solve(20_000, 16 << 20)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert machines.converged.all()
print(after - before, int(machines.n_correct.ravel()[0]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has another unit elsewhere")
def test_a_leaf_of_20_000_points_stays_within_its_cache():
    """All kernel rows would take 1.6 GB; 16 MB are allowed, and as much again for everything else."""
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    grown, right = map(int, done.stdout.split())
    assert grown <= 2 * 16 * 1024  # KiB
    assert right >= 19_900


def test_the_size_of_the_cache_changes_no_bit():
    rng = np.random.default_rng(1)
    labels = np.arange(1500, dtype=np.int32) % 3
    X = rng.normal(size=(1500, 4)) + 1.5 * np.eye(4)[labels]
    small, large = (
        solve_many(
            Gram(X, max_memory=memory), [np.arange(1500)], labels, [3], 1.0,
            kernel=KernelSpec.default(4), cache_size=cache,
        )
        for memory, cache in ((1 << 16, 100_000), (None, 64 << 20))
    )  # fmt: skip
    for name in small.arrays:
        np.testing.assert_array_equal(small.arrays[name], large.arrays[name])
