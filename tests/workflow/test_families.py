"""Short names, recommended settings, and the rule by which a family is chosen."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.workflow.families import (
    Family,
    FitSettings,
    WorkflowError,
    _apply_rule,
    candidates,
    families,
    find_family,
)


def test_every_short_name_is_a_public_classifier():
    for name, family in families().items():
        assert family.kind is getattr(surewood, surewood.SHORT_NAMES[name])
        assert family.title == family.title.strip()


@pytest.mark.parametrize("name", list(surewood.SHORT_NAMES))
@pytest.mark.parametrize("n_classes", [2, 12])
def test_recommended_settings_are_parameters(name, n_classes):
    family = find_family(name)
    known = {*inspect.signature(family.kind).parameters, *family.study_names()}
    assert set(family.settings_for(3000, n_classes)) <= known


def test_study_switches_reach_the_cascade():
    family = find_family("cascade")
    model = FitSettings(parameters={"max_svms": 7, "study": {"growth": "exact"}}).estimator(family, 600)
    assert model.study == {"max_svms": 7, "growth": "exact"}
    assert find_family("cascade").max_training_rows == 4000
    assert find_family("rcf").max_training_rows is None


def test_settings_reach_the_estimator():
    settings = FitSettings(7, 2, {"n_estimators": 3})
    model = settings.estimator(find_family("mddf"))
    assert (model.random_state, model.n_jobs, model.n_estimators) == (7, 2, 3)


def test_study_switches_can_be_set_by_name():
    family = find_family("rcf")
    names = family.study_names()
    if not names:
        pytest.skip("the family has no study switches")
    model = FitSettings(parameters={names[0]: 1}).estimator(family)
    assert model.study == {names[0]: 1}


def test_a_parameter_of_one_family_is_fine_for_auto_and_refused_by_the_others():
    settings = FitSettings(parameters={"max_layers": 2})
    assert [family.name for family in candidates("auto", settings)] == ["rcf", "cascade", "mddf"]
    with pytest.raises(WorkflowError, match=r"^parameters=max_layers: rcf has no such parameter"):
        candidates("rcf", settings)


CLASSES = np.array([0, 1])


def answers(name, wrong, confidence, n=400):
    """Probabilities of the true class 0: `wrong` rows are misclassified."""
    right = np.full(n, confidence)
    right[:wrong] = 1 - confidence
    return Family(name, name), np.column_stack([right, 1 - right]), 1.0


def test_a_clear_leader_wins():
    found = _apply_rule([answers("a", 5, 0.9), answers("b", 100, 0.9)], CLASSES, pd.Series([0] * 400), 3)
    assert found.family.name == "a"
    assert found.why == "a has the smallest out-of-fold error, by more than one standard error"
    assert found.to_dict()["scores"][1]["gap"] == 95 / 400


def test_among_tied_families_the_log_loss_decides():
    found = _apply_rule([answers("a", 20, 0.6), answers("b", 20, 0.9)], CLASSES, pd.Series([0] * 400), 3)
    assert found.family.name == "b"
    assert found.why.startswith("a and b are tied within one standard error; b has the small")
