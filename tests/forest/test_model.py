"""The fitted forest is one frozen object that predicts by itself."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return BinnedForestClassifier(12, oob_score=True, calibrate=True, random_state=0).fit(X, Y)


def test_it_is_frozen(forest):
    with pytest.raises(dataclasses.FrozenInstanceError):
        forest.model_.seed = 3


def test_both_ways_to_probabilities_agree(forest):
    table = forest.schema_.read(X)
    np.testing.assert_array_equal(
        forest.model_.probabilities(table, 1), forest.model_.raw_probabilities(np.ascontiguousarray(X), 1)
    )
    votes = forest.model_.trees.predict_proba(forest.model_.binned(table))
    np.testing.assert_allclose(forest.model_.calibrated(votes), forest.predict_proba(X), atol=1e-12)


def test_evidence_is_the_out_of_bag_error_where_it_was_asked_for(forest):
    [evidence] = forest.__certificate_evidence__()
    assert evidence.value == 1.0 - forest.oob_score_
    assert evidence.n == int((~np.isnan(forest.oob_decision_function_[:, 0])).sum())
    silent = BinnedForestClassifier(5, calibrate=True, random_state=0).fit(X, Y)
    assert list(silent.__certificate_evidence__()) == []


def test_paths_start_at_the_root_and_end_in_the_leaf(forest):
    leaves = forest.apply(X[:5]).astype(np.int64)
    indicator = forest.model_.paths(leaves)
    start = forest.forest_.node_start
    for tree in range(12):
        part = indicator[:, start[tree] : start[tree + 1]].toarray()
        assert part[:, 0].all()
        assert part[np.arange(5), leaves[:, tree]].all()
