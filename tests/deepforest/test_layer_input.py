import numpy as np
import pytest

from surewood.deepforest.layer_input import LayerInput, learn_vector_bins, training_input, widen
from surewood.trees import bin_array


@pytest.fixture
def base():
    return LayerInput(bin_array(np.arange(20.0).reshape(10, 2)), np.zeros((10, 2)))


def test_only_the_class_vectors_are_binned_again(base):
    vectors = np.random.default_rng(0).random((10, 3))
    bins = learn_vector_bins(vectors, None, 255)
    both = widen(base, vectors, bins, "both")
    assert both.matrix.blocks[0] is base.matrix.blocks[0]
    assert both.matrix.n_columns == 5
    np.testing.assert_array_equal(both.numbers[:, 2:], vectors)


def test_variants_see_scores_only_or_features_only(base):
    vectors = np.random.default_rng(0).random((10, 3))
    bins = learn_vector_bins(vectors, None, 255)
    scores = widen(base, vectors, bins, "scores")
    assert scores.matrix.n_columns == 3
    assert scores.numbers is vectors
    assert widen(base, vectors, bins, "features") is base


def test_large_tables_get_one_row_major_copy(monkeypatch):
    monkeypatch.setattr("surewood.deepforest.layer_input.ROW_COPY_BYTES", 1)
    matrix = bin_array(np.arange(20.0).reshape(10, 2))
    base = training_input(matrix.blocks[0], matrix.mapper, None)
    assert len(base.matrix.row_blocks) == 1
