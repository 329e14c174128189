"""Rows of one group that is written in two ways: it must not stand on both sides, or count twice."""

import numpy as np
import pandas as pd

from surewood.certify import certify
from surewood.certify.columns import group_labels
from tests.promises.population import draw, memorising_forest


def test_numbers_and_blanks_do_not_make_a_new_group():
    written = pd.Series([1, 1.0, "a", " a ", "a\t", np.float32(2.0), 2.5, None], dtype=object)
    assert group_labels(written, None, 8)[0].tolist() == ["1", "1", "a", "a", "a", "2", "2.5", "(missing)"]


def test_a_group_counts_once():
    X, y = draw(400, 0)
    new, labels = draw(300, 1)
    names = np.arange(300) // 10
    twice = np.array([name if k % 2 else float(name) for k, name in enumerate(names)], dtype=object)
    model = memorising_forest(X, y)
    plain, mixed = (certify(model, new, labels, groups=groups) for groups in (names, twice))
    assert [entry.n for entry in mixed.entries] == [entry.n for entry in plain.entries]
    assert [entry.value for entry in mixed.entries] == [entry.value for entry in plain.entries]
