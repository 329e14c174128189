"""Bundles in processes: marked arrays are files that live as long as their array."""

import gc
import os

import numpy as np

from surewood.parallel.process_engine import MappedFile, ProcessEngine


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
