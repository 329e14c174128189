"""The roles that every family fills, with one signature each.

A family is a folder of the same four files, and of files of its own ideas:

* ``estimator.py``: the public classes; ``fit`` reads the table, makes a plan, trains, stores the model;
* ``plan.py``: :class:`MakePlan`, from parameters and data to a frozen plan, which decides all that can be
  decided before training;
* ``training.py``: :class:`Train`, from plan and data to a fitted model, without side effects;
* ``model.py``: a :class:`FittedModel`, frozen.

The *data* are the :class:`~surewood.tables.TrainingTable`, or what the family's ``prepare`` makes of it, such
as bins, a design matrix, inner products. mypy checks models by ``ClassifierBase[Model]``, and the two
functions of each family in ``tests/test_families.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from surewood._arrays import Floats
from surewood.bounds.evidence import Evidence
from surewood.tables import Table

_Data = TypeVar("_Data", contravariant=True)
_PlanMade = TypeVar("_PlanMade", covariant=True)
_Plan = TypeVar("_Plan", contravariant=True)
_ModelMade = TypeVar("_ModelMade", bound="FittedModel", covariant=True)


class MakePlan(Protocol[_Data, _PlanMade]):
    """Parameters and data become one frozen plan."""

    def __call__(self, parameters: Mapping[str, Any], data: _Data, seed: int) -> _PlanMade:
        """`parameters` are what ``checked_parameters`` gives."""
        ...


class Train(Protocol[_Plan, _Data, _ModelMade]):
    """A plan and data become a fitted model."""

    def __call__(self, plan: _Plan, data: _Data) -> _ModelMade:
        """The same plan and data give the same model."""
        ...


class FittedModel(Protocol):
    """What a fit found, frozen: arrays and what follows from them."""

    @property
    def held_out(self) -> Floats | None:
        """Scores of training rows by models that did not see them, shape (n_rows, n_classes).

        NaN for rows without any; None where the fit had no such models, or where ``fit`` did not keep them.
        """
        ...

    def probabilities(self, rows: Table, n_jobs: int | None) -> Floats:
        """Class probabilities of a table in memory."""
        ...

    def explain(self, rows: Table, n_jobs: int | None) -> list[dict[str, Any]]:
        """One JSON-serializable dictionary per row with the path through the model."""
        ...

    def evidence(self) -> Iterable[Evidence]:
        """What a certificate may use."""
        ...


class ScoreModel(FittedModel, Protocol):
    """A model that predicts by scores: probabilities are their calibration, if there is one."""

    @property
    def is_calibrated(self) -> bool:
        """Whether there are probabilities."""
        ...


Model = TypeVar("Model", bound=FittedModel)
Scored = TypeVar("Scored", bound=ScoreModel)
