"""Bundles: order kept, sizes sensible, results whatever the engine's order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import delayed

import surewood
from surewood.parallel import remote
from surewood.parallel.remote import bundle_spans, in_words, pack, run_bundle, run_remotely


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.integers(1, 8))
def test_spans_cover_all_tasks_in_order(cost, workers):
    spans = bundle_spans(np.array(cost), workers)
    assert [k for first, last in spans for k in range(first, last)] == list(range(len(cost)))
    held = [sum(cost[first:last]) for first, last in spans]
    assert max(held) <= remote.LONGEST_BUNDLE + max(cost)


class Backwards:
    """An engine that answers in the wrong order."""

    key, n_workers = "backwards", 3

    def upload(self, arrays):
        return arrays

    def is_lost(self, reference):
        return False

    def run(self, packages):
        for number, blob, arrays in reversed(list(packages)):
            yield number, run_bundle(surewood.__version__, blob, list(arrays), *arrays.values())


def test_results_come_in_the_order_of_the_tasks():
    tasks = [delayed(abs)(-k) for k in range(20)]
    assert list(run_remotely(Backwards(), tasks, 1.0)) == list(range(20))
    assert list(run_remotely(Backwards(), tasks)) == list(range(20))


class Unreachable(Backwards):
    def run(self, packages):
        raise AssertionError("nothing should be sent")
        yield


def test_little_work_and_single_tasks_stay_here():
    assert list(run_remotely(Unreachable(), [delayed(abs)(-1)] * 5, 1e-4)) == [1] * 5
    assert list(run_remotely(Unreachable(), [delayed(abs)(-1)], 100.0)) == [1]


def test_another_version_on_the_worker_is_refused():
    with pytest.raises(
        RuntimeError, match=r"has surewood .*, this program 0\.0\.0.*Install the same version"
    ):
        run_bundle("0.0.0", pack([])[0], [])


def test_workers_without_surewood_are_told_apart_from_other_missing_modules():
    assert "do not have surewood" in str(in_words(ModuleNotFoundError("x", name="surewood.trees")))
    other = ModuleNotFoundError("x", name="pandas")
    assert in_words(other) is other
