"""Parts of a repeat: disjoint, seeded, thinned where the profile says so."""

import numpy as np

from surewood.experiments.mddf.data import parts_of
from tests.experiments.mddf.mddf_profiles import tiny


def test_a_set_without_an_official_split_is_divided_by_the_repeat():
    first, again, other = (parts_of("wine", repeat, tiny()) for repeat in (0, 0, 1))
    assert len(first.X_test) == len(first.y_test) == 60
    assert len(first.X) + len(first.X_test) == 178
    assert first.X.equals(again.X)
    assert first.seeds == again.seeds != other.seeds
    assert not first.X.equals(other.X)
    assert set(np.unique(first.y)) == {0, 1, 2}


def test_the_training_part_is_thinned_and_the_test_part_is_not():
    whole, thin = parts_of("wine", 0, tiny()), parts_of("wine", 0, tiny(train_rows=30))
    assert len(thin.X) == len(thin.y) == 30
    assert thin.X_test.equals(whole.X_test)
    assert "rows" in thin.seeds
