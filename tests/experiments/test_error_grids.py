"""Error counts of a grid, packed into text and back."""

import json

import numpy as np

from surewood.experiments.error_grids import pack, unpack


def test_counts_survive_packing_and_json():
    rng = np.random.default_rng(0)
    validation, test = rng.integers(0, 5000, size=(2, 3, 4, 2))
    grid = pack({"r": (1, 2, 4), "depth": [1, 2, 3, 4], "rule": [None, 0.1]}, validation, test)
    found = unpack(json.loads(json.dumps(grid)))
    np.testing.assert_array_equal(found[0], validation)
    np.testing.assert_array_equal(found[1], test)
    assert found[0].dtype == np.int64
