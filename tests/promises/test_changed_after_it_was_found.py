"""Thresholds and sets that were changed, or whose model was fitted again, guarantee nothing ([D-37])."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
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


CHANGED = "No guarantee: the thresholds were changed after they were found."


REFITTED = "the model was changed or fitted again after the"


def sets_of(**options):
    model = memorising_forest(*draw(400, 0), min_samples_leaf=20)
    return PredictionSets(model, 0.1, **options).fit(*draw(3000, 1))


def replaced(sets):
    sets.thresholds_ = sets.thresholds_ + 0.3


def edited(sets):
    sets.thresholds_[:] += 0.3


@pytest.mark.parametrize("change", [replaced, edited])
@pytest.mark.parametrize("options", [{}, {"by": "class"}, {"guarantee": "marginal"}, {"score": "adaptive"}])
def test_thresholds_of_sets(change, options):
    sets = sets_of(**options)
    assert sets.guarantees_
    change(sets)
    assert sets.guarantees_ == ()
    assert sets.statement_ == CHANGED


def test_a_copy_or_a_file_of_changed_sets_has_no_guarantee(tmp_path):
    sets = sets_of()
    edited(sets)
    files = surewood.load(surewood.save(sets, tmp_path / "sets.surewood"))
    for again in (copy.deepcopy(sets), pickle.loads(pickle.dumps(sets)), files):
        assert again.guarantees_ == ()
    whole = sets_of()
    for again in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert len(again.guarantees_) == 1
        edited(again)
        assert again.guarantees_ == ()


def test_classes_of_the_model_in_another_order():
    sets = sets_of()
    sets.model.classes_ = sets.model.classes_[::-1].copy()
    assert sets.guarantees_ == ()
    assert REFITTED in sets.statement_


def test_another_positive_class():
    model = memorising_forest(*draw(400, 0), min_samples_leaf=20)
    found = find_threshold(model, *draw(3000, 1), positive=1, fpr=0.3)
    assert len(found.guarantees) == 1
    found.positive = 0
    assert found.guarantees == ()
    with pytest.raises(AttributeError, match="the positive class was changed"):
        _ = found.guarantee
    assert pickle.loads(pickle.dumps(found)).proof is None


@pytest.fixture
def found():
    model = memorising_forest(*draw(400, 0), min_samples_leaf=20)
    return find_threshold(model, *draw(3000, 1), positive=1, fpr=0.2)


def test_a_laxer_threshold_has_no_guarantee(found):
    assert len(found.guarantees) == 1
    found.set_params(threshold=0.0)  # everything is positive now
    assert found.guarantees == ()
    assert found.certificate.guarantees == ()


def test_nor_has_one_that_was_assigned(found):
    found.threshold = 0.0
    assert found.guarantees == ()


def test_nor_has_another_class(found):
    assert found.set_params(positive=0).guarantees == ()


def test_nor_has_another_model(found):
    assert found.set_params(model=memorising_forest(*draw(400, 5))).guarantees == ()


def test_a_clone_is_not_fitted_and_proves_nothing(found):
    copied = clone(found)
    assert copied.threshold == found.threshold
    assert copied.guarantees == ()
    X, y = draw(300, 2)
    copied.model.fit(X, 1 - y)
    assert copied.guarantees == ()
    assert len(found.guarantees) == 1


def test_the_same_values_again_change_nothing(found, tmp_path):
    before = found.guarantees
    found.set_params(threshold=found.threshold, positive=found.positive)
    assert found.guarantees == before
    again = surewood.load(surewood.save(found, tmp_path / "t.surewood"))
    assert again.guarantees == before
    again.threshold = 0.0
    assert again.guarantees == ()


def test_a_model_fitted_again_on_all_rows_is_another_model(found):
    """The usual last step, after which nothing that was proved holds."""
    X, y = draw(400, 0)
    more, labels = draw(3000, 1)
    found.model.fit(np.r_[X, more], np.r_[y, labels])
    assert found.guarantees == ()
    found.model.fit(X, y)
    assert len(found.guarantees) == 1
