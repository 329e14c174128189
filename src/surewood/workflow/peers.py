"""Classifiers of other libraries that `compare` knows, used as their authors advise (`PEERS`).

A random forest sees categories as codes. Histogram boosting, XGBoost, LightGBM, CatBoost and EBM take
categories as categories; histogram boosting has room for 255 of them, so wider columns are codes there.
Logistic regression gets one column per category, medians for missing values, and standardized numbers. Column
names are replaced by numbers, because two of them reject brackets and non-ASCII characters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surewood.workflow.families import Family, FitSettings

N_TREES = 500
_MAX_CATEGORIES = 255


class PeerClassifier:
    """A peer behind the two methods that ``compare`` needs; labels and columns are numbers to it."""

    def __init__(self, model: Any, takes_categories: bool) -> None:
        self.model, self.takes_categories = model, takes_categories

    def fit(self, X: pd.DataFrame, y: pd.Series) -> PeerClassifier:
        """Train on a prepared frame."""
        self.classes_, codes = np.unique(y.to_numpy(), return_inverse=True)
        self.model.fit(self._columns(X), codes)
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Probabilities, one column per class."""
        return np.asarray(self.model.predict_proba(self._columns(X)), dtype=np.float64)

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(np.asarray(self.classes_)[self.predict_proba(X).argmax(axis=1)])

    def _columns(self, X: pd.DataFrame) -> pd.DataFrame:
        out = {}
        for place, name in enumerate(X.columns):
            column = X[name]
            if isinstance(column.dtype, pd.CategoricalDtype):
                codes = column.cat.codes.astype("int64")
                if self.takes_categories and len(column.cat.categories) < _MAX_CATEGORIES:
                    column = pd.Series(
                        pd.Categorical.from_codes(
                            codes, categories=pd.Index(range(len(column.cat.categories)))
                        ),
                        index=X.index,
                    )
                else:
                    column = codes.astype("float64").where(codes >= 0, np.nan)
            out[f"c{place}"] = column
        return pd.DataFrame(out, index=X.index)


def _random_forest(seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(N_TREES, random_state=seed, n_jobs=n_jobs)


def _histogram_boosting(seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _xgboost(seed: int, n_jobs: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=n_jobs, enable_categorical=True, verbosity=0)


def _lightgbm(seed: int, n_jobs: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=n_jobs, verbosity=-1)


class _TextCategories:
    """A classifier that wants categories as text, missing ones among them."""

    def __init__(self, make: Callable[[list[str]], Any]) -> None:
        self._make = make

    def fit(self, X: pd.DataFrame, y: NDArray[np.int64]) -> _TextCategories:
        frame, texts = self._as_text(X)
        self._model = self._make(texts).fit(frame, y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self._model.predict_proba(self._as_text(X)[0])

    def _as_text(self, X: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
        texts = [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype)]
        changed = {
            name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in texts
        }
        return X.assign(**changed), texts


def _catboost(seed: int, n_jobs: int) -> Any:
    from catboost import CatBoostClassifier

    return _TextCategories(
        lambda texts: CatBoostClassifier(
            cat_features=texts,
            random_seed=seed,
            thread_count=n_jobs,
            verbose=False,
            allow_writing_files=False,
        )
    )


def _explainable_boosting(seed: int, n_jobs: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return _TextCategories(lambda texts: ExplainableBoostingClassifier(random_state=seed, n_jobs=n_jobs))


def _logistic_regression(seed: int, n_jobs: int) -> Any:
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include=["number", "bool"])),
            (
                "categories",
                OneHotEncoder(handle_unknown="ignore"),
                make_column_selector(dtype_include="category"),
            ),
        ]
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def _majority(seed: int, n_jobs: int) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


@dataclass(frozen=True)
class Entrant:
    """A classifier to compare: one of our families, or `make` of another library."""

    name: str
    title: str
    package: str = "surewood"
    #: Takes the seed and the number of threads.
    make: Callable[[int, int], Any] | None = None
    takes_categories: bool = True
    #: Whether it is the majority-class baseline.
    floor: bool = False
    family: Family | None = None

    @property
    def ours(self) -> bool:
        """Whether it is one of our families."""
        return self.family is not None

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported."""
        return find_spec(self.package) is not None

    def estimator(self, settings: FitSettings, n_rows: int, n_classes: int) -> Any:
        """The classifier for a sample of this size."""
        if self.family is not None:
            return settings.estimator(self.family, n_rows, n_classes)
        assert self.make is not None
        return PeerClassifier(self.make(settings.random_state, settings.n_jobs), self.takes_categories)


PEERS = (
    Entrant("rf", f"random forest, {N_TREES} trees (scikit-learn)", "sklearn", _random_forest, False),
    Entrant("hgb", "histogram boosting (scikit-learn)", "sklearn", _histogram_boosting),
    Entrant("xgboost", "XGBoost", "xgboost", _xgboost),
    Entrant("lightgbm", "LightGBM", "lightgbm", _lightgbm),
    Entrant("catboost", "CatBoost", "catboost", _catboost),
    Entrant("ebm", "explainable boosting (EBM)", "interpret", _explainable_boosting),
    Entrant("logreg", "logistic regression (scikit-learn)", "sklearn", _logistic_regression),
    Entrant("majority", "majority-class baseline", "sklearn", _majority, False, floor=True),
)
