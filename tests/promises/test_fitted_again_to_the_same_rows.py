"""[D-37]: other settings for the same rows make another model; what was found for the first says nothing.

The first forest is careful, the second one learns labels by heart: its probabilities are 0 or 1, and a
threshold or a set of the first one fails on it far more often than promised.
"""

import copy
import pickle

import pytest
from sklearn.ensemble import RandomForestClassifier

import surewood
from surewood.certify import PredictionSets, find_threshold
from tests.promises.population import draw, memorising_forest

SENTENCE = "the model was changed or fitted again after the"


def careful(kind):
    X, y = draw(400, 0)
    if kind == "ours":
        return memorising_forest(X, y, min_samples_leaf=20)
    return RandomForestClassifier(20, min_samples_leaf=20, random_state=0).fit(X, y)


def by_heart(model):
    return model.set_params(min_samples_leaf=1).fit(*draw(400, 0))


@pytest.mark.parametrize("kind", ["ours", "another library's"])
def test_a_threshold(kind):
    found = find_threshold(careful(kind), *draw(3000, 1), positive=1, fpr=0.2, X_train=draw(400, 0)[0])
    assert len(found.guarantees) == 1
    by_heart(found.model)
    assert found.guarantees == ()
    assert found.certificate.guarantees == ()
    assert f"No guarantee: {SENTENCE} threshold was found." in str(found)
    assert any(SENTENCE in fact for fact in found.certificate.facts)
    for name in ("guarantee", "coverage"):
        with pytest.raises(AttributeError, match=SENTENCE):
            getattr(found, name)


@pytest.mark.parametrize("kind", ["ours", "another library's"])
@pytest.mark.parametrize("guarantee", ["pac", "marginal"])
def test_sets(kind, guarantee):
    sets = PredictionSets(careful(kind), 0.1, guarantee).fit(*draw(3000, 1), X_train=draw(400, 0)[0])
    assert len(sets.guarantees_) == 1
    by_heart(sets.model)
    assert sets.guarantees_ == ()
    assert sets.statement_ == f"No guarantee: {SENTENCE} sets were found."


def copies(rule, tmp_path):
    yield copy.deepcopy(rule)
    yield pickle.loads(pickle.dumps(rule))
    yield surewood.load(surewood.save(rule, tmp_path / "rule.surewood"))


def test_copies_and_files_keep_what_holds_and_nothing_else(tmp_path):
    found = find_threshold(careful("ours"), *draw(3000, 1), positive=1, fpr=0.2)
    sets = PredictionSets(careful("ours"), 0.1).fit(*draw(3000, 1))
    for again in (*copies(found, tmp_path), *copies(sets, tmp_path)):
        guaranteed = "guarantees_" if isinstance(again, PredictionSets) else "guarantees"
        assert len(getattr(again, guaranteed)) == 1
        by_heart(again.model)
        assert getattr(again, guaranteed) == ()
    by_heart(found.model), by_heart(sets.model)
    for again in (*copies(found, tmp_path), *copies(sets, tmp_path)):
        assert getattr(again, "guarantees_" if isinstance(again, PredictionSets) else "guarantees") == ()
