import numpy as np

from surewood.deepforest.importances import mix, trace_layer


def test_what_class_vectors_gain_goes_back_to_the_columns():
    first = np.array([0.75, 0.25])
    assert trace_layer(first, 2, None) is first
    np.testing.assert_allclose(trace_layer(np.array([0.1, 0.1, 0.4, 0.4]), 2, first), [0.7, 0.3])
    np.testing.assert_allclose(trace_layer(np.array([0.6, 0.4]), 2, first, sees_table=False), first)
    np.testing.assert_allclose(trace_layer(np.array([0.5, 0.5]), 2, first), [0.5, 0.5])  # features only


def test_layers_mix_by_their_weights():
    np.testing.assert_allclose(mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.25, 0.75]), [0.25, 0.75])
    np.testing.assert_array_equal(mix([np.zeros(2)], [1.0]), np.zeros(2))
