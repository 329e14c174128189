"""The short form of `make fuzz-files`: forged model files are refused, or predict."""

import numpy as np

from tests.fuzz.fuzz_files import run_apart
from tests.fuzz.random_forgeries import changed_array
from tests.persistence import variety


def test_forged_files_are_refused_or_predict():
    found = run_apart(0, 300, "--seed", "25")
    assert not found.failures
    assert sum(found.counts.values()) == 300
    assert found.counts["refused"] > 60  # a fuzzer that changes nothing of weight would prove nothing
    assert found.counts["predicts"] > 30
    loaded = [what for what, _ in found.verdicts]
    assert all(any(f"{name}" in what for what in loaded) for name in variety.names())
    for way in (", path: ", ", r: ", ", c: ", ": pickled array "):
        assert sum(way in what for what in loaded) == 75


def test_a_change_is_a_change():
    rng = np.random.default_rng(0)
    before = np.arange(12, dtype=np.int32).reshape(4, 3)
    changed = 0
    for _ in range(100):
        after = changed_array(before, rng)
        changed += after.dtype != before.dtype or not np.array_equal(after, before)
    assert changed > 80
    assert before.tolist() == np.arange(12).reshape(4, 3).tolist()
