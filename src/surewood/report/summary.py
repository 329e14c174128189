"""``build_summary``: everything a page shows about a fitted model, as plain values.

The same dictionary is the JSON of a report; nothing on the page comes from anywhere else.
"""

from __future__ import annotations

from typing import Any

from surewood.inspect.families import family_of, last_step
from surewood.report import quality, run_facts, table_facts
from surewood.report.certificate_words import certificate_facts, issue
from surewood.report.family_facts import family_facts
from surewood.report.plain import plain

__all__ = ["build_summary"]

FORMAT = 1

FAMILY_WORDS = {
    "composite": "Shallow trees whose leaves hold support vector machines; a data-dependent price decides "
    "how rich each leaf may be.",
    "cascade": "A chain of support vector machines: points that the first one is sure about leave there, the "
    "others go on to the next.",
    "generic_cascade": "A chain of classifiers: a question sends the harder points on, the others stay.",
    "margin_forest": "Layers of forests; each layer looks harder at points that the layers before found "
    "difficult.",
    "cascade_forest": "Layers of forests; each layer reads the table and what the layer before said.",
    "forest": "Many decision trees, grown on random parts of the rows and columns, that vote.",
    "svm": "A support vector machine with a polynomial kernel for each pair of classes.",
    "other": "",
}


TITLES = {
    "BinnedForestClassifier": "Binned forest",
    "CascadeForestClassifier": "Cascade forest",
    "CompositeTreeClassifier": "Composite tree",
    "DeepCascadeClassifier": "Deep cascade",
    "DeepCascadeSVMClassifier": "Deep cascade",
    "DeepCascadeSVMClassifierCV": "Deep cascade",
    "MarginDeepForestClassifier": "Margin deep forest",
    "MarginDeepForestClassifierCV": "Margin deep forest",
    "PolySVC": "Polynomial SVM",
    "RandomCompositeForestClassifier": "Random composite forest",
    "RandomCompositeForestClassifierCV": "Random composite forest",
}


def build_summary(
    model: Any,
    X: Any,
    y: Any,
    *,
    holdout: tuple[Any, Any] | None = None,
    certificate: Any = None,
    dataset: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Collect what there is to know about a fitted classifier.

    Parameters
    ----------
    model : fitted classifier
        Of surewood, or any of scikit-learn, which gets the parts that all models share.
    X, y : table and labels
        What it was trained on.
    holdout : tuple (X, y), optional
        Rows that took no part in training. Without them the page judges the training rows, and says so.
    certificate : Certificate or its dict, optional
        Of :func:`surewood.certify.certify`; issued from the holdout unless given.
    dataset : dict, optional
        ``name``, ``source`` and ``notes`` (a list of sentences).
    run : dict, optional
        ``seconds``, ``peak_memory_bytes``, ``seed``, ``command``.

    Returns
    -------
    dict
        JSON-able. :func:`write_page` and :func:`write_json` take it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surewood import BinnedForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BinnedForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    >>> summary = build_summary(model, X[::2], y[::2], holdout=(X[1::2], y[1::2]))
    >>> summary["model"]["name"], summary["scores"]["n"], summary["data"]["n_columns"]
    ('BinnedForestClassifier', 75, 4)
    """
    core = last_step(model)
    name = type(core).__name__
    family = family_of(model)
    sample = "holdout" if holdout is not None else "training"
    judged = quality.predictions(model, *(holdout if holdout is not None else (X, y)))
    if certificate is None:
        certificate = issue(model, X, y, holdout)
    about = {"name": None, "source": None, "notes": [], **(dataset or {})}
    return {
        "format": FORMAT,
        "model": {
            "name": name,
            "title": TITLES.get(name, name),
            "family": family,
            "words": FAMILY_WORDS[family],
        },
        "data": {
            **plain(about),
            "n_rows": len(judged.y) if holdout is None else len(y),
            "n_holdout": None if holdout is None else judged.n_rows,
            "n_columns": table_facts.n_columns(X),
            "n_classes": len(judged.classes),
            "columns": table_facts.column_facts(core, X),
            "classes": table_facts.class_facts(y, None if holdout is None else holdout[1]),
        },
        "scores": quality.scores(judged, sample),
        "certificate": None if certificate is None else certificate_facts(certificate),
        "confusion": quality.confusion(judged),
        "calibration": quality.calibration(judged),
        "hardest": quality.hardest_rows(model, judged),
        "family": family_facts(model, judged, is_holdout=holdout is not None),
        "importances": _importances(model, X),
        "settings": run_facts.settings(core),
        "run": run_facts.run_facts(core, run),
    }


def _importances(model: Any, X: Any) -> list[dict[str, Any]] | None:
    """Impurity importances of the 20 weightiest columns, where the model has them."""
    values = getattr(model, "feature_importances_", None)
    if values is None:
        return None
    names = table_facts.column_names(model, X)
    ranked = sorted(zip(names, plain(values)), key=lambda pair: -(pair[1] or 0.0))
    return [{"column": name, "importance": value} for name, value in ranked[:20] if value]
