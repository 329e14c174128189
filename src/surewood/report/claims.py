"""What is guaranteed, claim by claim: a sentence, the estimate beside the limit, and the groups."""

from __future__ import annotations

from typing import Any

from surewood.certify.rendering import rounded_down, rounded_up
from surewood.estimators.wording import counted_text
from surewood.report.words import number, percent, percent_down, percent_up

__all__ = ["claim_facts", "limit_text"]

_NOT_RATES = ("expected cost", "Brier score")
_OBSERVED = ("error rate", "observed")


def claim_facts(entry: dict[str, Any]) -> dict[str, Any]:
    """A GUARANTEE of a certificate as plain values with its sentence.

    Examples
    --------
    >>> entry = {"quantity": "error", "side": "at most", "value": 0.1234, "n": 300, "unit": "rows",
    ...          "sample": "holdout", "decomposition": {"error rate": 0.1}, "population": "", "groups": []}
    >>> claim_facts(entry)["sentence"]
    'The error is at most 12.4 % (10.0 % of 300 holdout rows).'
    """
    groups = sorted(entry.get("groups") or [], key=lambda group: -group["limit"])
    parts = entry["decomposition"]
    observed = next((parts[name] for name in _OBSERVED if name in parts), None)
    claim = {
        "quantity": entry["quantity"],
        "side": entry["side"],
        "limit": entry["value"],
        "limit_text": limit_text(entry, 1),
        "observed": observed,
        "is_rate": entry["quantity"] not in _NOT_RATES,
        "n": entry["n"],
        "unit": entry["unit"],
        "sample": entry["sample"],
        "population": entry["population"],
        "groups": groups,
    }
    return {**claim, "sentence": _sentence(claim)}


def _sentence(claim: dict[str, Any]) -> str:
    text = f"The {claim['quantity']} is {claim['side']} {claim['limit_text']}"
    rows = counted_text(claim["n"], claim["sample"], claim["unit"])
    if claim["groups"]:
        worst = claim["groups"][0]
        return (
            f"{text}, for all {len(claim['groups'])} groups at once; the largest limit is that of "
            f"{worst['name']} ({percent(worst['observed'], 1)} of {number(worst['n'])} rows)."
        )
    if claim["observed"] is None:
        return f"{text} (from {rows})."
    if not claim["is_rate"]:
        return f"{text} (observed {number(claim['observed'])} on {rows})."
    return f"{text} ({percent(claim['observed'], 1)} of {rows})."


def limit_text(entry: dict[str, Any], digits: int = 2) -> str:
    """A limit, never sharpened by rounding; costs are not percentages."""
    lower = entry["side"] == "at least"
    if entry["quantity"] in _NOT_RATES:
        return rounded_down(entry["value"]) if lower else rounded_up(entry["value"])
    return percent_down(entry["value"], digits) if lower else percent_up(entry["value"], digits)
