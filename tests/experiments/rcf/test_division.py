"""Divisions of the RCF protocol ([D-17], [D-18])."""

import numpy as np
import pytest

from surewood.experiments.rcf.division import divide, divide_official, thinned_features


@pytest.mark.parametrize("n", [5, 150, 208, 528, 7494])
def test_parts_are_disjoint_complete_and_of_the_stated_sizes(n):
    parts = divide(n, 3)
    together = np.concatenate([parts.train, parts.evaluated])
    assert sorted(together.tolist()) == list(range(n))
    assert len(parts.test) == -(-n // 5)
    assert abs(len(parts.train) - 0.6 * n) <= 0.5
    assert all((np.diff(part) > 0).all() for part in (parts.train, parts.validation, parts.test))


def test_the_official_test_part_stays_whole():
    split = np.array(["train", "test"] * 20 + ["train"] * 10)
    parts = divide_official(split, 0.25, 1)
    assert parts.test.tolist() == np.flatnonzero(split == "test").tolist()
    assert (len(parts.train), len(parts.validation)) == (22, 8)
    assert set(parts.train) | set(parts.validation) == set(np.flatnonzero(split == "train"))
    assert parts.validation.tolist() != divide_official(split, 0.25, 2).validation.tolist()


def test_the_seed_decides():
    assert divide(100, 1).test.tolist() == divide(100, 1).test.tolist() != divide(100, 2).test.tolist()


@pytest.mark.parametrize("n_features", [4, 10, 24, 60, 256])
def test_thinning_keeps_the_root_of_the_number_of_features(n_features):
    root = int(np.sqrt(n_features) + 0.5)
    whole = thinned_features(n_features, 1)
    assert whole[0] == 1
    assert whole[-1] == n_features
    for every in (2, 3):
        assert root in thinned_features(n_features, every)
        assert set(thinned_features(n_features, every)) < set(whole)
