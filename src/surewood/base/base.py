"""What every classifier of the package does the same way."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surewood._arrays import AnyArray, Floats
from surewood.base.contributions import Contributions, Groups, draw_background, table_contributions
from surewood.base.describing import DescribesItself
from surewood.base.family import Model, Scored
from surewood.base.notebook import figure_text, framed, tiles
from surewood.base.parameters import Switch, TableParameters, checked_parameters
from surewood.base.remembered import RememberedRows
from surewood.base.rules import Rule
from surewood.bounds.evidence import Evidence
from surewood.tables import (
    Table,
    TrainingTable,
    begin_fit,
    begin_predict,
    by_batches,
    by_label,
    column_names,
    plain,
)


def normalized(importances: Floats) -> Floats:
    """Importances that sum to 1; all of them 0 where no split was made.

    Examples
    --------
    >>> normalized(np.array([1.0, 3.0])).tolist(), normalized(np.zeros(2)).tolist()
    ([0.25, 0.75], [0.0, 0.0])
    """
    total = importances.sum()
    return np.asarray(importances / total) if total > 0 else importances


def class_codes(classes: Any, y: Any) -> NDArray[np.int64]:
    """Positions of labels in `classes`.

    Examples
    --------
    >>> class_codes(["a", "b"], ["b", "a"]).tolist()
    [1, 0]
    """
    place = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(y).ravel().tolist()
    unknown = [label for label in labels if label not in place]
    if unknown:
        raise ValueError(f"y has labels that the model was not trained on, such as {unknown[0]!r}.")
    return np.array([place[label] for label in labels], dtype=np.int64)


_Value = TypeVar("_Value")


class Fitted(property, Generic[_Value]):
    """A public attribute that is read from ``model_``, declared in one line.

    Parameters
    ----------
    name : str
        Name in the model; dots lead into its parts.
    doc : str
        What it is.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.base import BaseEstimator
    >>> class Forest(BaseEstimator):
    ...     def fit(self):
    ...         self.model_ = SimpleNamespace(seed=7)
    ...         return self
    ...
    ...     seed_ = Fitted[int]("seed", "What the trees were drawn with.")
    >>> Forest().fit().seed_, hasattr(Forest(), "seed_")
    (7, False)
    """

    def __init__(self, name: str, doc: str) -> None:
        read = attrgetter(name)

        def value(estimator: Any) -> Any:
            check_is_fitted(estimator, "model_")
            return read(estimator.model_)

        super().__init__(value)
        self.__doc__ = doc

    def __get__(self, estimator: Any, owner: type | None = None) -> _Value:  # type: ignore[override]
        value: _Value = super().__get__(estimator, owner)
        return value


class ClassifierBase(TableParameters, ClassifierMixin, BaseEstimator, ABC, Generic[Model]):  # type: ignore[misc]
    """Base of the public classifiers.

    A subclass defines ``fit`` and its parameters beyond those of
    :class:`~surewood.base.parameters.TableParameters`. Its fitted state is one frozen object, ``model_``
    (:class:`~surewood.base.family.FittedModel`), besides public attributes that end in ``_``; ``fit`` ends
    with ``self._store_fit(inputs)`` and ``self.model_ = model``. The model's ``probabilities`` are what it
    predicts, unless ``predict_proba`` is overridden.
    """

    #: The rule of each parameter but `study`.
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {}
    #: What `study` may hold.
    _study_switches: ClassVar[Mapping[str, Switch]] = {}
    #: Time and memory grow with the classes, in some families with their square.
    _most_classes: ClassVar[int] = 1000
    #: Whether held-out probabilities for the mixture take the other copies of a row into account already.
    _counts_copies: ClassVar[bool] = False

    #: What the entries of ``explain`` call this kind of model.
    _kind: ClassVar[str]

    model_: Model
    if TYPE_CHECKING:  # a parameter of most families
        n_jobs: int | None
    classes_: NDArray[Any]
    remembered_rows_: RememberedRows | None
    #: Some training rows as the engines read them, for :meth:`contributions`; with `remember_rows` only.
    background_: AnyArray | None

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, shape (n_rows, n_classes), columns in the order of ``classes_``."""
        model, rows = self._fitted(), begin_predict(self, X)
        return by_batches(rows, lambda batch: model.probabilities(batch, self.n_jobs))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest probability, the first one on ties."""
        best = self.predict_proba(X).argmax(axis=1)  # before classes_: this call refuses unfitted estimators
        labels: NDArray[Any] = np.asarray(self.classes_)[best]
        return labels

    def _html_repr(self) -> str:
        """For notebooks: what a fitted model is, in the page's look, above scikit-learn's diagram."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "classes_") or not isinstance(self, DescribesItself):
            return diagram
        facts = self.__report_facts__(None)
        shown = [(figure_text(figure), str(figure["label"])) for figure in facts["figures"]]
        description = f"<p class='soft'>{escape(facts['description'])}</p>"
        return framed(str(facts["title"]), tiles(shown) + description) + diagram

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _parameters(self) -> Any:
        """The checked parameters, from which plans are made; a time limit starts here."""
        return checked_parameters(self)

    def _fit_table(self, parameters: Any, data: TrainingTable) -> Floats | None:
        """Fit to a table that was read, of which the owner may be another fit: for members of the mixture.

        Returns probabilities of its rows by models that did not see them, which the fitted model does not
        keep: NaN for a row without any, None where there are none at all. For a content that occurs more than
        once they are those of models that saw its other copies, if the class counts copies itself.
        """
        raise NotImplementedError

    def _begin_fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, **merging: bool
    ) -> TrainingTable:
        """Training data, checked and read as the parameters say; `merging` as in ``begin_fit``."""
        inputs = begin_fit(
            self,
            X,
            y,
            sample_weight,
            class_weight=self.class_weight,
            categorical_features=self.categorical_features,
            groups=groups,
            **merging,
        )
        if len(inputs.classes) > self._most_classes:
            with inputs:
                raise ValueError(
                    f"y has {len(inputs.classes):,} different labels; {type(self).__name__} takes at most "
                    f"{self._most_classes:,}. Are they identifiers, or numbers for a regression?"
                )
        return inputs

    def contributions(
        self,
        X: Any,
        background: Any = None,
        *,
        groups: Groups = None,
        n_orders: int | None = None,
        random_state: Any = 0,
    ) -> Contributions:
        """How much each column adds to, or takes from, the predicted probabilities (Shapley values).

        The value of a set of columns is the mean prediction with these columns from the row and the others
        from the background rows. Shapley values distribute the difference between all columns and none.

        Parameters
        ----------
        X : table
            Rows to explain.
        background : table, optional
            Rows to compare with. By default a sample of the training rows, which the model keeps with
            `remember_rows`.
        groups : dict of str to list of str, optional
            Columns that count as one, by the name of the group.
        n_orders : int, optional
            Orders of the columns per row where values are sampled: the standard error falls with its square
            root. By default 400 to 4,000 predictions are made per row, more if there are fewer rows.
        random_state : int, RandomState or None, default=0

        Returns
        -------
        Contributions
            ``values`` of shape (n_rows, n_columns, n_classes), which sum over the columns to
            ``predict_proba(X) - expected``, and their ``standard_error``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surewood import PolySVC
        >>> X, y = load_iris(return_X_y=True)
        >>> found = PolySVC().fit(X, y).contributions(X[:3])
        >>> found.values.shape, found.standard_error.shape, found.expected.shape
        ((3, 4, 3), (3, 4, 3), (3,))
        """
        return table_contributions(self, X, background, groups, n_orders, random_state)

    def explain(self, X: Any, groups: Groups = None) -> list[dict[str, Any]]:
        """How rows were classified: the columns that matter most, and the path through the model.

        Parameters
        ----------
        X : table of a few rows
            A forest gives as many paths per row as it has trees.
        groups : dict of str to list of str, optional
            Columns that count as one in ``because``, by the name of the group.

        Returns
        -------
        list of dict
            One per row, JSON-serializable: ``kind`` (of the model), ``prediction``, ``probabilities``
            by label (None where an SVM or a cascade is not calibrated) and ``because``, the columns that
            matter most, as in :meth:`surewood.inspect.Contributions.because` (None without probabilities or
            without `remember_rows`). What follows depends on the ``kind``: paths, leaves, layers, votes,
            support vectors; :doc:`/explanations` lists it.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surewood import BinnedForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = BinnedForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
        >>> row = forest.explain(X[:1])[0]
        >>> row["prediction"], len(row["trees"]), sorted(row["trees"][0]["path"][0])
        (0, 10, ['actual', 'feature', 'operator', 'value'])
        """
        explained, contributions = self._explained(X), None
        has_probabilities = bool(explained) and explained[0]["probabilities"] is not None
        if has_probabilities and getattr(self, "background_", None) is not None:
            contributions = self.contributions(X, groups=groups)
        first = ("kind", "prediction", "probabilities")
        return [
            {
                **{name: entry[name] for name in first},
                "because": None if contributions is None else contributions.because(row, entry["prediction"]),
                **{name: value for name, value in entry.items() if name not in first},
            }
            for row, entry in enumerate(explained)
        ]

    def _fitted(self) -> Model:
        """The model, or scikit-learn's NotFittedError."""
        check_is_fitted(self, "model_")
        return self.model_

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        """What :meth:`explain` returns but ``because``; see :meth:`_explanations`."""
        details = self._fitted().explain(begin_predict(self, X), self.n_jobs)
        return self._explanations(self._kind, self.predict_proba(X), details)

    def __certificate_evidence__(self) -> Iterable[Evidence]:
        """What :func:`surewood.certify.certify` may use without a holdout."""
        return self._fitted().evidence()

    def _exact_values(self, rows: Table, background: Table, groups: Sequence[Sequence[int]]) -> Floats | None:
        """Exact contributions by group of columns, where the family has them; None: they are sampled."""
        return None

    def _store_fit(self, inputs: TrainingTable) -> None:
        """The last line of ``fit``, within ``with begin_fit(...)``: what every fitted classifier has.

        ``classes_``, ``schema_``, the names and number of columns, ``remembered_rows_`` and ``background_``.
        """
        remembered, background = None, None
        if self.remember_rows:
            remembered, hashes = RememberedRows.of(inputs)
            background = draw_background(inputs, hashes)
        inputs.store(self)
        self.remembered_rows_, self.background_ = remembered, background

    def _column_names(self) -> list[str]:
        """Names of the training columns; x0, x1, ... where the table had none."""
        return column_names(self.schema_, self.n_features_in_)

    def _explanations(self, kind: str, probabilities: Floats, details: list[dict[str, Any]]) -> list[Any]:
        """One dictionary per row: what every family reports, then its details."""
        labels = [plain(label) for label in self.classes_]
        return [
            {
                "kind": kind,
                "prediction": labels[int(row.argmax())],
                "probabilities": by_label(labels, row),
                **detail,
            }
            for row, detail in zip(probabilities, details)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "classes_" not in state:
            return  # not fitted
        labels = self.classes_
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or len(labels) > self._most_classes:
            raise ValueError(f"classes must be an array of at most {self._most_classes:,} labels.")
        if not (labels[1:] > labels[:-1]).all():
            raise ValueError("classes must be distinct labels in ascending order.")


def is_calibrated(estimator: Any) -> bool:
    """Whether an estimator that predicts by scores offers probabilities."""
    return bool(estimator.calibrate)


class ScoreClassifier(ClassifierBase[Scored]):
    """Base of classifiers that predict by scores: only with `calibrate` there are probabilities."""

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities; the largest is that of the predicted class."""
        return super().predict_proba(X)

    @available_if(is_calibrated)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`."""
        return super().predict_log_proba(X)

    def _explained(self, X: Any) -> list[dict[str, Any]]:
        model = self._fitted()
        details = model.explain(begin_predict(self, X), self.n_jobs)
        if model.is_calibrated:
            return self._explanations(self._kind, super().predict_proba(X), details)
        return [
            {"kind": self._kind, "prediction": plain(label), "probabilities": None, **detail}
            for label, detail in zip(self.predict(X), details)
        ]
