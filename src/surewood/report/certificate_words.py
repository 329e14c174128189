"""A certificate in plain language: what each word means, what each line says, what it rests on."""

from __future__ import annotations

from typing import Any

from surewood.bounds import OffersEvidence
from surewood.certify import Certificate, certify
from surewood.report.plain import plain
from surewood.report.words import percent, percent_up

__all__ = ["STATUS_WORDS", "certificate_facts", "issue"]

STATUS_WORDS = {
    "GUARANTEE": "A promise. It holds with the stated confidence for new rows of the same kind, whatever "
    "their distribution, as long as the conditions under it are true.",
    "CRITERION": "A score that was minimised to choose the model. It ranks models; it says nothing about the "
    "error on new rows.",
    "ESTIMATE": "Something measured. A good guess at the error on new rows, without a promise; too "
    "optimistic where the same rows also chose the model.",
    "HEURISTIC": "A diagnostic that tends to go along with good models. No proof stands behind it.",
}

_METHOD_WORDS = {
    "holdout (Clopper-Pearson)": "Counted on rows that the model never saw; the plainest promise there is.",
    "PAC-Bayes, first order": "From the trees' errors on rows that each of them did not see, doubled because "
    "a vote can be twice as wrong as its voters.",
    "PAC-Bayes, tandem": "From how often two trees are wrong together on rows that neither saw.",
    "sample compression (SVM)": "The machine could be rebuilt from few of the rows; the others test it.",
    "sample compression (SVM tree)": "The tree's machines could be rebuilt from few rows; the rest test it.",
    "composite tree bound": "Training error plus, leaf by leaf, the price of the leaf's richness.",
    "composite forest bound": "Twice the mean of the trees' bounds: training error plus price of richness.",
    "cascade bound": "Training error plus, leaf by leaf, the price of the leaf's richness.",
}


def issue(model: Any, X: Any, y: Any, holdout: tuple[Any, Any] | None) -> Certificate | None:
    """The certificate of a model whose caller brought none; None where nothing can be said."""
    if holdout is not None:
        return certify(model, *holdout)
    if isinstance(model, OffersEvidence):
        return certify(model)
    return certify(model, X, y, sample="training") if X is not None and y is not None else None


def certificate_facts(certificate: Certificate | dict[str, Any]) -> dict[str, Any]:
    """The certificate as plain values, each line with a sentence of explanation."""
    trivial = certificate.is_trivial if isinstance(certificate, Certificate) else None
    facts = plain(certificate.to_dict() if isinstance(certificate, Certificate) else certificate)
    guarantees = [entry for entry in facts["entries"] if entry["status"] == "GUARANTEE"]
    best = min(guarantees, key=lambda entry: entry["value"], default=None)
    if trivial is None:
        majority = facts.get("majority_error")
        trivial = best is None or best["value"] >= (1.0 if majority is None else min(1.0, majority))
    facts["trivial"] = trivial
    facts["sentence"] = _sentence(best, facts, trivial)
    facts["entries"] = [{**entry, "words": _entry_words(entry)} for entry in facts["entries"]]
    used = [entry["status"] for entry in facts["entries"]]
    facts["statuses"] = {status: text for status, text in STATUS_WORDS.items() if status in used}
    return facts


def _sentence(best: dict[str, Any] | None, facts: dict[str, Any], trivial: bool) -> str:
    if best is None:
        return "No guarantee could be given for this model; the lines below are measured, not promised."
    if trivial:
        return (
            "Nothing beyond guessing can be guaranteed at this sample size: the best promise is not below "
            "the error of always naming the largest class."
        )
    return (
        f"With {percent(1 - facts['delta'], 0)} confidence, this model is wrong on at most "
        f"{percent_up(best['value'])} of new rows of the same kind."
    )


def _entry_words(entry: dict[str, Any]) -> str:
    known = _METHOD_WORDS.get(entry["method"])
    if known and entry["status"] == "GUARANTEE":
        return known
    if entry["status"] == "CRITERION":
        return "The value that selection minimised, with its scaled price of richness."
    if entry["status"] == "ESTIMATE":
        bias = "Too optimistic by an unknown amount: these rows took part in fitting or choosing."
        return bias if entry["biased"] else "Measured on rows that took no part in fitting."
    return entry["note"] or "Smaller tends to be better; not an error rate."
