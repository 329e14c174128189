"""A certificate in plain language: what each word means, what each line says, what it assumes."""

from __future__ import annotations

from typing import Any

from surewood.bounds import OffersEvidence
from surewood.certify import Certificate, certify
from surewood.report.claims import claim_facts, limit_text
from surewood.report.plain import plain_dict
from surewood.report.words import percent, percent_up

__all__ = ["STATUS_WORDS", "certificate_facts", "issue"]

STATUS_WORDS = {
    "GUARANTEE": "It holds with the stated confidence for new rows of the same kind, whatever "
    "their distribution, as long as the conditions under it are true.",
    "CRITERION": "A score that was minimized to choose the model. It ranks models and does not bound the "
    "error on new rows.",
    "ESTIMATE": "Measured, not guaranteed. Too optimistic where the same rows were also used to choose "
    "the model.",
    "HEURISTIC": "A diagnostic that tends to go along with good models. No proof stands behind it.",
}

_METHOD_WORDS = {
    "holdout (Clopper-Pearson)": "Based only on rows the model never saw.",
    "PAC-Bayes, first order": "From the trees' errors on rows that each of them did not see, doubled because "
    "a vote can be twice as wrong as its voters.",
    "PAC-Bayes, tandem": "From how often two trees are wrong together on rows that neither saw.",
    "sample compression (SVM)": "The SVM could be rebuilt from few of the rows; the others test it.",
    "sample compression (SVM tree)": "The tree's SVMs could be rebuilt from few rows; the rest test it.",
    "composite tree bound": "Training error plus the complexity penalty of each leaf.",
    "composite forest bound": "Twice the mean of the trees' bounds: training error plus complexity penalty.",
    "cascade bound": "Training error plus the complexity penalty of each leaf.",
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
    facts = plain_dict(certificate.to_dict() if isinstance(certificate, Certificate) else certificate)
    guarantees = [entry for entry in facts["entries"] if entry["status"] == "GUARANTEE"]
    errors = [entry for entry in guarantees if entry.get("quantity", "error") == "error"]
    best = min(errors, key=lambda entry: entry["value"], default=None)
    if trivial is None:
        majority = facts.get("majority_error")
        trivial = best is None or best["value"] >= (1.0 if majority is None else min(1.0, majority))
    facts["trivial"] = trivial
    claimed = [entry for entry in guarantees if entry not in errors]
    facts["claims"] = [claim_facts(entry) for entry in [*([best] if best else []), *claimed]]
    facts["sentence"] = _sentence(best, claimed, facts, trivial)
    facts["entries"] = [
        {**entry, "words": _entry_words(entry), "limit": limit_text(entry) if entry in claimed else None}
        for entry in facts["entries"]
    ]
    used = [entry["status"] for entry in facts["entries"]]
    facts["statuses"] = {status: text for status, text in STATUS_WORDS.items() if status in used}
    return facts


def _sentence(
    best: dict[str, Any] | None, claimed: list[dict[str, Any]], facts: dict[str, Any], trivial: bool
) -> str:
    """The verdict in one sentence, with what was measured beside it."""
    sure = f"With {percent(1 - facts['delta'], 0)} confidence"
    if claimed:
        lines = [f"{entry['quantity']} {entry['side']} {limit_text(entry, 1)}" for entry in claimed[:3]]
        if best is not None:
            lines.insert(0, f"error at most {percent_up(best['value'], 1)}")
        more = f"; and {len(claimed) - 3} more" if len(claimed) > 3 else ""
        return f"{sure}, on new rows of the same kind: {'; '.join(lines)}{more}."
    if best is None:
        return "No guarantee could be given for this model; the numbers below are measured, not guaranteed."
    majority = facts.get("majority_error")
    if trivial:
        few = str(facts.get("verdict", ""))
        why = f": {few}" if few.startswith("too few") else ""
        unsure = "We cannot guarantee that this model beats the baseline (majority class) at this sample size"
        return f"{unsure}{why}."
    against = "" if majority is None else f"; the baseline (majority class) errs on {percent(majority, 1)}"
    return (
        f"{sure}, this model is wrong on at most {percent_up(best['value'], 1)} of new rows of the same "
        f"kind{against}."
    )


def _entry_words(entry: dict[str, Any]) -> str:
    known = _METHOD_WORDS.get(entry["method"])
    if known and entry["status"] == "GUARANTEE":
        return known
    if entry["status"] == "CRITERION":
        return "The value that selection minimized, with its scaled complexity penalty."
    if entry["status"] == "ESTIMATE":
        bias = "Too optimistic by an unknown amount: these rows were used for fitting or tuning."
        return bias if entry["biased"] else "Measured on rows that were held out from fitting."
    return entry["note"] or "Smaller tends to be better; not an error rate."
