"""A table copied many times whose row number is given as the group: every copy is a group of its own."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from surewood import workflow
from surewood.certify import certify
from tests.promises.population import draw, memorising_forest
from tests.promises.tables import SMALL


class Sign:
    """The best classifier of the population, fixed in advance; it errs with probability 0.25."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_copies_of_a_row_in_several_groups_count_once():
    false = 0
    for seed in range(150):
        X, y = draw(30, seed)
        many = np.repeat(X, 40, axis=0), np.repeat(y, 40)
        (entry,) = certify(Sign(), *many, groups=np.arange(1200), delta=0.1).guarantees
        assert entry.n == 30
        false += entry.value < 0.25
    assert stats.binom.sf(false - 1, 150, 0.1) > 1e-3


def test_it_is_said():
    X, y = draw(30, 0)
    certificate = certify(Sign(), np.r_[X, X], np.r_[y, y], groups=np.arange(60))
    assert "30 of 60 rows repeat a row of another group; equal rows count once." in certificate.facts


def test_rows_of_one_group_stay_as_they_are():
    X, y = draw(60, 0)
    model = memorising_forest(*draw(100, 1))
    plain = certify(model, X, y, groups=np.arange(60) // 3)
    again = certify(model, np.r_[X, X], np.r_[y, y], groups=np.tile(np.arange(60) // 3, 2))
    assert again.guarantees[0].value == plain.guarantees[0].value


@pytest.mark.parametrize("seed", range(2))
def test_through_fit(tmp_path, seed):
    """No classifier errs less often than 0.5 on coins."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(y=rng.integers(0, 2, 60))
    frame = pd.concat([frame] * 8, ignore_index=True).sample(frac=1.0, random_state=seed)
    frame["row"] = [f"r{k}" for k in range(len(frame))]
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = workflow.fit(
        tmp_path / "t.csv", "y", model="mddf", parameters=SMALL, groups="row", n_jobs=1, random_state=seed
    )
    assert all(entry.value >= 0.45 for entry in result.certificate.guarantees)
