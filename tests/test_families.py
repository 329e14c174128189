"""Every family fills the roles of `surewood.base.family`; mypy checks this file, too."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import surewood.cascade.generic_cascade as generic
import surewood.cascade.plan
import surewood.cascade.training
import surewood.composite.plan
import surewood.composite.training
import surewood.deepforest.plan
import surewood.deepforest.training
import surewood.mixture.plan
import surewood.mixture.training
import surewood.svm.plan
import surewood.svm.training
from surewood.base.family import MakePlan, Train
from surewood.cascade.data import CascadeData
from surewood.cascade.model import CascadeModel
from surewood.composite.data import CompositeData
from surewood.composite.model import CompositeModel
from surewood.composite.plan import CompositePlan
from surewood.deepforest.data import DeepForestData
from surewood.deepforest.model import DeepForestModel
from surewood.deepforest.plan import DeepForestPlan
from surewood.mixture.model import MixtureModel
from surewood.svm.model import SvmModel
from surewood.tables import TrainingTable
from surewood.trees import boosting, forest_plan, forest_training
from surewood.trees.boosted_model import BoostedModel
from surewood.trees.forest_model import ForestModel

forest: MakePlan[TrainingTable, forest_plan.ForestPlan] = forest_plan.make_plan
train_forest: Train[forest_plan.ForestPlan, TrainingTable, ForestModel] = forest_training.train
boosted: MakePlan[TrainingTable, boosting.BoostingPlan] = boosting.make_plan
train_boosted: Train[boosting.BoostingPlan, TrainingTable, BoostedModel] = boosting.train
svm: MakePlan[TrainingTable, surewood.svm.plan.SvmPlan] = surewood.svm.plan.make_plan
train_svm: Train[surewood.svm.plan.SvmPlan, TrainingTable, SvmModel] = surewood.svm.training.train
composite: MakePlan[CompositeData, CompositePlan] = surewood.composite.plan.make_plan
train_composite: Train[CompositePlan, CompositeData, CompositeModel] = surewood.composite.training.train
cascade: MakePlan[CascadeData, surewood.cascade.plan.CascadePlan] = surewood.cascade.plan.make_plan
train_cascade: Train[surewood.cascade.plan.CascadePlan, CascadeData, CascadeModel] = (
    surewood.cascade.training.train
)
any_cascade: MakePlan[CascadeData, generic.GenericPlan] = generic.make_generic_plan
train_any: Train[generic.GenericPlan, CascadeData, generic.GenericModel] = generic.train_generic
deep: MakePlan[DeepForestData, DeepForestPlan[Any]] = surewood.deepforest.plan.make_plan
train_deep: Train[DeepForestPlan[Any], DeepForestData, DeepForestModel] = surewood.deepforest.training.train
mixture: MakePlan[TrainingTable, surewood.mixture.plan.MixturePlan] = surewood.mixture.plan.make_plan
train_mixture: Train[surewood.mixture.plan.MixturePlan, TrainingTable, MixtureModel] = (
    surewood.mixture.training.train
)

PLANS = [forest, boosted, svm, composite, cascade, any_cascade, deep, mixture]
TRAINS = [
    train_forest,
    train_boosted,
    train_svm,
    train_composite,
    train_cascade,
    train_any,
    train_deep,
    train_mixture,
]
FORESTS = [ForestModel, BoostedModel, CompositeModel, DeepForestModel]
MODELS = [*FORESTS, SvmModel, CascadeModel, generic.GenericModel, MixtureModel]


@pytest.mark.parametrize(("make_plan", "train"), list(zip(PLANS, TRAINS)))
def test_a_family_plans_and_trains_by_the_same_names(make_plan: Any, train: Any) -> None:
    assert list(inspect.signature(make_plan).parameters) == ["parameters", "data", "seed"]
    assert list(inspect.signature(train).parameters)[:2] == ["plan", "data"]


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_read_by_the_same_names(model: Any) -> None:
    assert list(inspect.signature(model.probabilities).parameters) == ["self", "rows", "n_jobs"]
    assert list(inspect.signature(model.explain).parameters) == ["self", "rows", "n_jobs"]
    assert list(inspect.signature(model.evidence).parameters) == ["self"]
