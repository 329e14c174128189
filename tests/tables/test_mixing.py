"""The finaliser is a bijection that spreads every bit."""

import numpy as np

from surewood.tables.mixing import mixed, splitmix64


def test_every_input_bit_changes_about_half_of_the_output():
    words = np.random.default_rng(0).integers(0, 2**63, size=200, dtype=np.uint64)
    for bit in range(64):
        changed = mixed(words) ^ mixed(words ^ np.uint64(1 << bit))
        flips = np.unpackbits(changed.view(np.uint8)).reshape(200, 64).mean()
        assert 0.45 < flips < 0.55


def test_scalars_and_arrays_agree_and_wrap_around():
    last = np.uint64(2**64 - 1)
    assert splitmix64(last) == splitmix64(np.array([last]))[0]
    assert len(np.unique(splitmix64(np.arange(100_000, dtype=np.uint64)))) == 100_000
