"""SurewoodClassifier as a *system* of TabArena, the composite and the margin forest as *models*.

A system gets raw tables and a budget, and chooses and combines its models itself. A model is tuned and bagged
by TabArena through AutoGluon, which encodes the labels. Only TabArena imports this file.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import pandas as pd
from autogluon.core.models import AbstractModel
from tabarena.benchmark.exec_models.external import ExternalSystemModel

USED_TIME = 0.9  # of the limit: a fit that reaches it still has to finish what it began


class SurewoodSystem(ExternalSystemModel):
    """The mixture with its defaults; keywords that it does not need (metric, memory, GPUs) are not read."""

    warmup_modules: ClassVar[tuple[str, ...]] = ("surewood.mixture",)  # imported before the clock starts

    def _fit_system(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        *,
        problem_type: str,
        num_cpus: int | None,
        time_limit: float | None,
        random_state: int | None,
        **context: Any,
    ) -> SurewoodSystem:
        if problem_type == "regression":
            raise ValueError("surewood is for classification; choose binary and multiclass tasks.")
        from surewood import SurewoodClassifier  # TabArena imports this file where surewood is not installed

        self.classifier = SurewoodClassifier(
            time_limit=None if time_limit is None else USED_TIME * time_limit,
            n_jobs=num_cpus,
            random_state=0 if random_state is None else random_state,
        ).fit(X, y)
        return self

    def _predict(self, X: pd.DataFrame) -> pd.Series:
        return pd.Series(self.classifier.predict(X), index=X.index)

    def _predict_proba(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(self.classifier.predict_proba(X), index=X.index, columns=self.classifier.classes_)

    def cleanup(self) -> None:
        del self.classifier


class _Forest(AbstractModel):
    """What both forests share; AutoGluon's own `_predict_proba` calls that of ``self.model``."""

    ag_priority = 65
    seed_name = "random_state"
    _supported_problem_types: ClassVar[list[str]] = ["binary", "multiclass"]
    warmup_modules: ClassVar[tuple[str, ...]] = ("surewood",)
    classifier: ClassVar[str]
    search_space: ClassVar[dict[str, list[Any]]]

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        time_limit: float | None = None,
        num_cpus: int = 1,
        **context: Any,
    ) -> None:
        """Fit within the time that preprocessing leaves; validation rows are not used."""
        import surewood

        started = time.monotonic()
        X = self.preprocess(X, y=y)
        left = None if time_limit is None else USED_TIME * (time_limit - (time.monotonic() - started))
        self.model = getattr(surewood, self.classifier)(
            **self._get_model_params(), time_limit=left, n_jobs=num_cpus
        )
        self.model.fit(X, y)

    def _more_tags(self) -> dict[str, bool]:
        return {"can_refit_full": True}


class CompositeForestModel(_Forest):
    ag_key, ag_name = "TA-SUREWOOD-COMPOSITE", "TA-SurewoodComposite"
    classifier = "RandomCompositeForestClassifier"
    search_space: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [50, 100, 200],
        "max_depth": ["auto", 2, 3, 4, 5, 6],
        "max_features": ["sqrt", 0.5, 1.0],
        "gamma_scale": ["auto", 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    }


class MarginForestModel(_Forest):
    ag_key, ag_name = "TA-SUREWOOD-MARGIN", "TA-SurewoodMargin"
    classifier = "MarginDeepForestClassifier"
    search_space: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [50, 100, 200],
        "theta": [0.7, 0.8, 0.9],
        "mu_loss": [0.05, 0.01, 0.2],
        "depth_schedule": ["auto", 4, 8, 16],
        "max_features": ["sqrt", 0.5, 1.0],
    }
