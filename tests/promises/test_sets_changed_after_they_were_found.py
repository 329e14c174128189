"""Thresholds of prediction sets raised by hand, classes in another order, another positive class ([D-37])."""

import copy
import pickle

import pytest

import surewood
from surewood.certify import PredictionSets, find_threshold
from tests.promises.population import draw, memorising_forest

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
