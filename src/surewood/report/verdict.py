"""The sentences of a page that a manager reads: how good the model is, and what is guaranteed."""

from __future__ import annotations

from typing import Any

from surewood.estimators.wording import plural
from surewood.report.words import number, percent

__all__ = ["quality_sentence"]

_GOOD_AUC = ((0.95, "very well"), (0.85, "well"), (0.7, "moderately well"), (0.55, "poorly"))


def quality_sentence(scores: dict[str, Any]) -> str:
    """How well a model predicts, in one sentence or two.

    Examples
    --------
    >>> scores = {"sample": "holdout", "n": 200, "n_wrong": 10, "error": 0.05, "majority_error": 0.3,
    ...           "decided": 1.0, "auc": 0.97}
    >>> quality_sentence(scores)[:54]
    'Of 200 holdout rows it predicts 190 correctly (95.0 %)'
    """
    n_decided = round(scores["decided"] * scores["n"])
    right = n_decided - scores["n_wrong"]
    base = percent(1 - scores["majority_error"], 1)
    if scores["decided"] < 1:
        first = (
            f"It decides {number(n_decided)} of {number(scores['n'])} {scores['sample']} rows, "
            f"{number(right)} of them correctly ({percent(1 - scores['error'], 1)}), and abstains on the rest"
        )
    else:
        first = (
            f"Of {plural(scores['n'], scores['sample'] + ' row')} it predicts {number(right)} correctly "
            f"({percent(1 - scores['error'], 1)})"
        )
    first += f"; the majority-class baseline gets {base}."
    auc = scores["auc"]
    if auc is None:
        return first
    word = next((word for least, word in _GOOD_AUC if auc >= least), "hardly better than guessing")
    return f"{first} It tells the classes apart {word} (AUC {number(auc, 3)})."
