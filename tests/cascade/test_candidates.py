import math

import numpy as np
import pandas as pd

from surewood.cascade.candidates import Candidate, HeldOut, choose, compare


def table_of(rows):
    return pd.DataFrame(rows, columns=["kind", "n_leaves", "error", "gain", "standard_error"])


def test_a_cascade_must_beat_the_best_plain_machine_clearly():
    table = table_of(
        [("plain", 1, 0.20, -0.05, 0.01), ("plain", 1, 0.15, 0.0, 0.0), ("path", 3, 0.14, 0.01, 0.02)]
    )
    assert choose(table, 1.0) == 1
    assert choose(table, 0.0) == 2
    assert choose(table.assign(standard_error=0.0), np.inf) == 1
    table.loc[2, "standard_error"] = 0.005
    assert choose(table, 1.0) == 2


def test_ties_go_to_fewer_leaves_then_to_the_earlier_row():
    table = table_of(
        [
            ("plain", 1, 0.2, 0.0, 0.0),
            ("path", 3, 0.1, 0.1, 0.01),
            ("leaves", 2, 0.1, 0.1, 0.01),
            ("leaves", 2, 0.1, 0.1, 0.01),
        ]
    )
    assert choose(table, 1.0) == 2


def test_an_equal_cascade_is_not_better():
    table = table_of([("plain", 1, 0.2, 0.0, 0.0), ("path", 1, 0.2, 0.0, 0.0)])
    assert choose(table, 0.0) == 0


def test_the_noise_is_that_of_paired_differences():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200).astype(np.int32)
    answers = [np.where(rng.random(200) < p, codes, 1 - codes) for p in (0.7, 0.8, 0.85)]
    scores = [np.eye(2)[a] for a in answers]
    folds = [HeldOut(np.arange(200, dtype=np.int32), scores, np.array([1.0, 1.0, 2.0]))]
    candidates = [Candidate(choice=0), Candidate(choice=1), Candidate(0.01, 2)]
    table = compare(candidates, folds, codes, np.ones(200), [1, 2])
    wrong = [a != codes for a in answers]
    np.testing.assert_allclose(table["error"], [w.mean() for w in wrong])
    difference = wrong[1].astype(float) - wrong[2]
    assert math.isclose(table["gain"][2], difference.mean())
    assert math.isclose(table["standard_error"][2], difference.std() / math.sqrt(200))
    assert table["kind"].tolist() == ["plain", "plain", "leaves"]
