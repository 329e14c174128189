"""What is guaranteed: the sentences that a manager reads, claims, the certificate in words, charts."""

from __future__ import annotations

from typing import Any

from surewood.base.wording import counted_text, percent, plural
from surewood.bounds.evidence import OffersEvidence
from surewood.certify import Certificate, certify
from surewood.certify.wording import claim_text, confidence_text, limit_value
from surewood.report.charts import Axis, BarRow, Part, Plot, alt_text, bar_rows, figure, fitted_axis
from surewood.report.words import number, plain_dict


def quality_sentence(scores: dict[str, Any]) -> str:
    """Number of correct predictions, beside that of the baseline.

    Examples
    --------
    >>> scores = {"sample": "holdout", "n": 200, "n_wrong": 10, "error": 0.05, "majority_error": 0.3,
    ...           "decided": 1.0}
    >>> quality_sentence(scores)
    'Of 200 holdout rows it predicts 190 correctly (95.0 %); the majority-class baseline gets 70.0 %.'
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
    return f"{first}; the majority-class baseline gets {base}."


_OBSERVED = ("error rate", "observed")


def claim_facts(entry: dict[str, Any]) -> dict[str, Any]:
    """A GUARANTEE of a certificate as plain values with its sentence.

    Examples
    --------
    >>> entry = {"quantity": "error", "side": "at most", "value": 0.1234, "percent": True, "n": 300,
    ...          "unit": "rows", "sample": "holdout", "decomposition": {"error rate": 0.1}, "population": "",
    ...          "groups": []}
    >>> claim_facts(entry)["sentence"]
    'Error at most 12.4 % on new rows (10.0 % of 300 holdout rows).'
    """
    groups = sorted(entry.get("groups") or [], key=lambda group: -group["limit"])
    parts = entry["decomposition"]
    observed = next((parts[name] for name in _OBSERVED if name in parts), None)
    claim = {
        "quantity": entry["quantity"],
        "side": entry["side"],
        "limit": entry["value"],
        "limit_text": limit_value(entry, 1),
        "observed": observed,
        "percent": entry["percent"],
        "n": entry["n"],
        "unit": entry["unit"],
        "sample": entry["sample"],
        "population": entry["population"],
        "groups": groups,
    }
    return {**claim, "sentence": _claim_sentence(claim, claim_text(entry, 1))}


def _claim_sentence(claim: dict[str, Any], words: str) -> str:
    text = f"{words[:1].upper()}{words[1:]}"
    rows = counted_text(claim["n"], claim["sample"], claim["unit"])
    if claim["groups"]:
        worst = claim["groups"][0]
        return (
            f"{text}; the largest limit is that of "
            f"{worst['name']} ({percent(worst['observed'], 1)} of {number(worst['n'])} rows)."
        )
    if claim["observed"] is None:
        return f"{text} (from {rows})."
    if not claim["percent"]:
        return f"{text} (observed {number(claim['observed'])} on {rows})."
    return f"{text} ({percent(claim['observed'], 1)} of {rows})."


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
    facts = plain_dict(certificate.to_dict() if isinstance(certificate, Certificate) else certificate)
    guarantees = [entry for entry in facts["entries"] if entry["status"] == "GUARANTEE"]
    errors = [entry for entry in guarantees if entry["quantity"] == "error"]
    best = min(errors, key=lambda entry: entry["value"], default=None)
    claimed = [entry for entry in guarantees if entry not in errors]
    facts["claims"] = [claim_facts(entry) for entry in [*([best] if best else []), *claimed]]
    facts["sentence"] = _sentence(facts, best is not None)
    facts["entries"] = [
        {**entry, "words": _entry_words(entry), "limit": limit_value(entry) if entry in claimed else None}
        for entry in facts["entries"]
    ]
    used = [entry["status"] for entry in facts["entries"]]
    facts["statuses"] = {status: text for status, text in STATUS_WORDS.items() if status in used}
    return facts


def _sentence(facts: dict[str, Any], of_error: bool) -> str:
    """The verdict, and the baseline beside it."""
    verdict, majority = facts["verdict"], facts["majority_error"]
    against = ""
    if majority is not None and of_error and not facts["trivial"] and "constant decision" not in verdict:
        against = f"; the baseline (majority class) errs on {percent(majority, 1)}"
    return f"{verdict[:1].upper()}{verdict[1:]}{against}."


def _entry_words(entry: dict[str, Any]) -> str:
    by_method = _METHOD_WORDS.get(entry["method"])
    if by_method and entry["status"] == "GUARANTEE":
        return by_method
    if entry["status"] == "CRITERION":
        return "The value that selection minimized, with its scaled complexity penalty."
    if entry["status"] == "ESTIMATE":
        bias = "Too optimistic by an unknown amount: these rows were used for fitting or tuning."
        return bias if entry["biased"] else "Measured on rows that were held out from fitting."
    return entry["note"] or "Smaller tends to be better; not an error rate."


MOST_GROUPS = 40
_NAMES = (("estimate", "sky", "dot"), ("guaranteed limit", "leaf", "tick"))


def claim_chart(claims: list[dict[str, Any]], baseline: float | None) -> dict[str, Any] | None:
    """Estimate and limit of each claim side by side."""
    rates = [claim for claim in claims if claim["percent"]]
    if not rates:
        return None
    rows = []
    for claim in rates:
        rows.append(
            _limit_row(
                claim["quantity"], claim["observed"], claim["limit"], claim["side"], claim["limit_text"]
            )
        )
    if baseline is not None and any(claim["quantity"] == "error" for claim in rates):
        part = Part(baseline, baseline, "peer", f"baseline: {percent(baseline, 1)}", "dot")
        rows.append(BarRow("baseline (majority class)", [part], percent(baseline, 1)))
    ends = [end for row in rows for part in row.parts for end in (part.start, part.stop)]
    axis = fitted_axis(ends, "percent", include=(0.0,), limits=(0.0, 1.0))
    return figure(
        "Estimates and guaranteed limits",
        bar_rows(rows, axis=axis, names=_NAMES),
        alt=alt_text("Estimates and guaranteed limits", [(row.name, row.value) for row in rows]),
        caption="The dot was measured on the holdout; the bar ends at what is guaranteed.",
    )


def _limit_row(name: str, observed: float | None, limit: float, side: str, text: str) -> BarRow:
    tip = f"{name}: guaranteed {side} {text}"
    marks = []
    if observed is not None:
        tip = f"{tip}, estimate {percent(observed, 1)}"
        marks = [Part(observed, limit, "leaf-soft", tip), Part(observed, observed, "sky", tip, "dot")]
    marks.append(Part(limit, limit, "leaf", tip, "tick"))
    sign = "≥" if side == "at least" else "≤"
    shown = f"{sign} {text}" if observed is None else f"{percent(observed, 1)}, {sign} {text}"
    return BarRow(name, marks, shown, tip)


def group_charts(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One chart per claim about groups, the group with the largest limit first."""
    charts = []
    for claim in claims:
        groups = claim["groups"][:MOST_GROUPS]
        if not groups:
            continue
        rows = [
            _limit_row(
                f"{group['name']} ({plural(group['n'], 'row')})",
                group["observed"],
                group["limit"],
                claim["side"],
                limit_value({**claim, "value": group["limit"]}, 1),
            )
            for group in groups
        ]
        axis = fitted_axis([group["limit"] for group in groups], "percent", include=(0.0,), limits=(0.0, 1.0))
        left = len(claim["groups"]) - len(groups)
        more = f" {left:,} groups with smaller limits are not drawn." if left else ""
        title = f"{claim['quantity'][:1].upper()}{claim['quantity'][1:]}"
        charts.append(
            figure(
                title,
                bar_rows(rows, axis=axis, names=_NAMES),
                caption=f"All limits hold at once; small groups have wide ones.{more}",
                alt=alt_text(title, [(row.name, row.value) for row in rows]),
            )
        )
    return charts


def abstention_chart(facts: dict[str, Any] | None) -> dict[str, Any] | None:
    """Fraction of rows that can be decided, against the guaranteed error of these decisions."""
    if not facts:
        return None
    levels = sorted(facts["levels"], key=lambda level: level["error"])
    x = [*(level["error"] for level in levels), facts["without"]]
    y = [*(level["decided"] for level in levels), 1.0]
    across = fitted_axis(x, "percent", "guaranteed error of the decisions", include=(0.0,))
    plot = Plot(across, Axis(0.0, 1.05, "percent", "rows decided"), height=210)
    plot.line(x, y, "leaf", steps=False)
    told = [f"error at most {percent(a, 1)}: {percent(b, 1)} of the rows decided" for a, b in zip(x, y)]
    plot.points(x, y, "leaf", size=9, tips=told)
    best = levels[-1]
    share, error = percent(best["decided"], 0), percent(best["error"], 1)
    caption = (
        f"With {confidence_text(facts['delta'])} confidence (for this chart by itself): if it abstains "
        f"where its largest probability is below {best['threshold']:.2f}, it decides {share} of the rows "
        f"with an error of at most {error} on {facts['population']}. --accepted-error, or find_threshold in "
        "Python, sets such a rule."
    )
    alt = f"If the model may abstain: {'; '.join(told)}"
    return figure("If the model may abstain", plot.render(), caption=caption, alt=alt)
