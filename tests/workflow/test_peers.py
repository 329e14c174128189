"""Classifiers of other libraries, fed as their authors advise."""

import numpy as np
import pandas as pd
import pytest

from surewood.workflow.peers import PEERS


@pytest.mark.parametrize("peer", PEERS[:2], ids=lambda peer: peer.name)
def test_categories_missing_values_and_odd_names(peer):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"[x]<": rng.normal(size=60), "stadt": pd.Categorical(rng.choice(["a", "ß"], 60))})
    X.loc[0, "stadt"] = None
    y = pd.Series(np.where(X["[x]<"] > 0, "ja", "nein"))
    model = peer.build(0, 1).fit(X, y)
    assert model.classes_.tolist() == ["ja", "nein"]
    proba = model.predict_proba(X)
    assert (model.classes_[proba.argmax(axis=1)] == y).mean() > 0.9
