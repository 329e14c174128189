"""Parameters and data become one frozen plan."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from surewood import DeepCascadeSVMClassifier, DeepCascadeSVMClassifierCV
from surewood.cascade.plan import (
    calibration_folds,
    deal_folds,
    plan_fit,
    plan_selection,
    problems_of,
    read_settings,
    shared_budget,
)
from surewood.cascade.sample import Sample
from surewood.tables import DesignEncoder


@pytest.fixture
def sample():
    design = np.random.default_rng(0).normal(size=(40, 2))
    codes = (np.arange(40) % 3).astype(np.int32)
    return Sample(design, codes, np.ones(40), 3, DesignEncoder(), np.arange(40), True, True)


def test_settings_are_read_once():
    model = DeepCascadeSVMClassifier(
        fractions=(0.5, 0.1), degrees=(3, 1, 1), C=2.0, max_memory="1GB", calibrate="isotonic", time_limit=6
    )
    settings = read_settings(model)
    assert settings.fractions == (Fraction(1, 10), Fraction(1, 2))
    assert settings.degrees == (1, 3)
    np.testing.assert_array_equal(settings.C, [2.0, 2.0])
    assert (settings.max_memory, settings.calibration) == (10**9, "isotonic")
    assert shared_budget(settings, 3).budget.seconds == 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.kernel = "rbf"


def test_every_class_has_a_problem_but_native_ones(sample):
    problems = problems_of(sample, "one_vs_rest")
    assert [one.label for one in problems] == [0, 1, 2]
    np.testing.assert_array_equal(problems[1].codes, sample.codes == 1)
    (native,) = problems_of(sample, "native")
    assert (native.label, native.n_classes) == (-1, 3)


def test_penalty_folds(sample):
    for study, n_folds, held_out in (
        ({}, 1, 10),
        ({"validation_fraction": 0.5}, 1, 20),
        ({"C_selection": "cv", "C_folds": 4}, 4, 10),
    ):
        model = DeepCascadeSVMClassifier(study=study)
        plan = plan_fit(model, read_settings(model), sample, 0)
        assert len(plan.penalty_folds) == n_folds
        assert {len(held) for _, held in plan.penalty_folds} == {held_out}


def test_folds_of_the_selection(sample):
    for cv, n_folds in ((4, 4), (0.25, 1)):
        model = DeepCascadeSVMClassifierCV(cv=cv)
        plan = plan_selection(model, read_settings(model), sample, None, 0)
        assert [len(held) for _, held in plan.folds] == [10] * n_folds
    given = [(np.arange(20, dtype=np.int32), np.arange(20, 40, dtype=np.int32))]
    assert plan_selection(model, read_settings(model), sample, given, 0).folds is given


def test_folds_are_stratified_and_cover_every_row(sample):
    folds = deal_folds(sample.codes, 4, 0)
    assert sorted(np.concatenate([held for _, held in folds]).tolist()) == list(range(40))
    for train, held in folds:
        assert len(train) + len(held) == 40
        counts = np.bincount(sample.codes[held], minlength=3)
        assert counts.max() - counts.min() <= 1
    assert len(calibration_folds(sample, 0)) == 5
