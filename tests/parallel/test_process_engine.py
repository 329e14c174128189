"""Bundles in processes: marked arrays are files that live as long as their array."""

import gc
import os

import numpy as np
from joblib import delayed, parallel_config

from surewood.parallel import run_tasks, share
from surewood.parallel.process_engine import MappedFile, ProcessEngine
from surewood.parallel.running import active_engine


def test_a_file_goes_with_its_object():
    file = MappedFile(np.arange(5))
    path = file.path
    assert np.load(path).tolist() == [0, 1, 2, 3, 4]
    del file
    gc.collect()
    assert not os.path.exists(path)


def test_the_engine_uploads_files_that_are_never_lost():
    engine = ProcessEngine(2)
    [reference] = engine.upload([np.ones(3)])
    assert os.path.exists(reference.path)
    assert not engine.is_lost(reference)
    assert (engine.n_workers, engine.copies) == (2, False)


def test_the_multiprocessing_backend_of_joblib_works():
    x = np.arange(40_000.0)
    share(x)
    with parallel_config(backend="multiprocessing", n_jobs=2):
        assert isinstance(active_engine(2), ProcessEngine)
        found = list(run_tasks([delayed(_sum_here)(x, k) for k in range(4)], 2, seconds=1.0))
    assert [total for total, _ in found] == [x[k:].sum() for k in range(4)]
    assert os.getpid() not in {process for _, process in found}


def _sum_here(x, k):
    return x[k:].sum(), os.getpid()
