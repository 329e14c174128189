"""Classifiers of other libraries, fed as their authors advise."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.peers import PEERS


@pytest.mark.parametrize("name", ["rf", "hgb", "logreg", "catboost"])
def test_categories_missing_values_and_odd_names(name):
    peer = next(peer for peer in PEERS if peer.name == name)
    if not peer.is_installed:
        pytest.skip(f"{peer.package} is not installed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"[x]<": rng.normal(size=60), "stadt": pd.Categorical(rng.choice(["a", "ß"], 60))})
    X.loc[0, "stadt"] = None
    y = pd.Series(np.where(X["[x]<"] > 0, "ja", "nein"))
    model = peer.build(0, 1).fit(X, y)
    assert model.classes_.tolist() == ["ja", "nein"]
    proba = model.predict_proba(X)
    assert (model.classes_[proba.argmax(axis=1)] == y).mean() > 0.9


def test_the_majority_is_a_floor_that_knows_frequencies_only():
    peer = next(peer for peer in PEERS if peer.floor)
    X, y = pd.DataFrame({"a": range(4)}), pd.Series(["n", "n", "n", "y"])
    np.testing.assert_allclose(peer.build(0, 1).fit(X, y).predict_proba(X), [[0.75, 0.25]] * 4)
