"""One draw per fit, and the reference words of SplitMix64."""

import numpy as np

from surewood.estimators.seeds import draw_seed, splitmix64


def test_a_seed_is_one_draw_of_scikit_learns_kind():
    assert draw_seed(7) == np.random.RandomState(7).randint(2**31 - 1)
    shared = np.random.RandomState(7)
    first, second = draw_seed(shared), draw_seed(shared)
    assert first == draw_seed(7)
    assert first != second
    assert isinstance(draw_seed(None), int)


def test_splitmix64_gives_the_reference_words():
    # Steele, Lea & Flood (2014), seed 1234567: the words of the public reference implementation.
    golden = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + k * golden) % 2**64 for k in range(3)], dtype=np.uint64)
    assert splitmix64(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]
