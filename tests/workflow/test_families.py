"""Short names, recommended settings and parameters of the families."""

import inspect

import pytest

import surewood
from surewood.workflow.families import FitSettings, WorkflowError, candidates, families, find_family


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


def test_the_cascade_searches_less_on_more_rows():
    family = find_family("cascade")
    small, large = (FitSettings().estimator(family, n).study["max_svms"] for n in (600, 4000))
    assert small > large
    model = FitSettings(parameters={"max_svms": 7, "study": {"growth": "exact"}}).estimator(family, 600)
    assert model.study == {"max_svms": 7, "growth": "exact"}
    assert find_family("cascade").max_training_rows == 4000
    assert find_family("rcf").max_training_rows is None


def test_settings_reach_the_estimator():
    settings = FitSettings(7, 2, "4GB", {"n_estimators": 3})
    model = settings.estimator(find_family("mddf"))
    assert (model.random_state, model.n_jobs, model.max_memory, model.n_estimators) == (
        7,
        2,
        4_000_000_000,
        3,
    )


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
