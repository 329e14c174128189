"""Every sentence about a guarantee: claims, verdicts, limits; and a certificate's dict as text and HTML.

A claim is the whole statement: population, quantity and limit; the verdict adds the confidence. Limits are
rounded to the safe side: upper limits up, lower limits down. The certificate, thresholds, prediction sets,
the page and the command line all use these functions. Functions take an entry or its dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape
from operator import itemgetter
from typing import Any

from surewood.base.notebook import bars, framed
from surewood.base.wording import counted_text
from surewood.bounds import Condition, Entry, rows_needed
from surewood.bounds.statements import AT_LEAST, CALLER

from .claims import CONSTANT, COST

__all__ = [
    "between_text",
    "certificate_html",
    "certificate_text",
    "claim_text",
    "confidence_text",
    "ends_text",
    "entry_text",
    "head_lines",
    "limit_value",
    "parts_text",
    "verdict_text",
]

NEW_GROUPS, SUCH_GROUPS = "new groups", "new groups with such rows"  # populations
_WHICH_GROUP = {NEW_GROUPS: "", SUCH_GROUPS: " with such rows"}  # behind "a new group"
LOWER, UPPER = "lower limit", "upper limit"  # parts of an entry that are limits
WITHOUT_HOLDOUT = "Known without a holdout"
_SECTIONS = {
    "GUARANTEE": "GUARANTEE (holds with probability 1 - delta over independent draws)",
    WITHOUT_HOLDOUT: f"{WITHOUT_HOLDOUT} (GUARANTEE, from the training sample)",
    "CRITERION": "CRITERION (selection score, not a bound)",
    "ESTIMATE": "ESTIMATE (measured, not a bound)",
    "HEURISTIC": "HEURISTIC (diagnostic, not a bound)",
}

AnyEntry = Entry | Mapping[str, Any]


def _get(entry: AnyEntry, name: str) -> Any:
    return entry[name] if isinstance(entry, Mapping) else getattr(entry, name)


def limit_value(entry: AnyEntry, digits: int = 2) -> str:
    """A limit as printed: rates in percent, rounded to the safe side.

    Examples
    --------
    >>> entry = {"percent": True, "side": "at most", "value": 0.0505}
    >>> limit_value(entry), limit_value(entry, 0), limit_value({**entry, "side": "at least"}, 0)
    ('5.05 %', '6 %', '5 %')
    """
    rounding = ROUND_FLOOR if _get(entry, "side") == AT_LEAST else ROUND_CEILING
    value = float(_get(entry, "value"))
    if _get(entry, "percent"):
        exact = Decimal(str(value))
        small = max(0, -exact.adjusted() - 2) if exact else 0  # zeros behind the point: as many digits more
        return _percent(exact, digits + small, rounding)
    return _safe(value, rounding)


def _safe(value: float, rounding: str) -> str:
    text = f"{value:.4g}"
    safe = float(text) <= value if rounding == ROUND_FLOOR else float(text) >= value
    return text if safe else str(Decimal(value).normalize(Context(prec=4, rounding=rounding)))


def between_text(lower: float, upper: float, digits: int = 2) -> str:
    """Two limits of a rate, rounded outwards.

    Examples
    --------
    >>> between_text(0.0309, 0.0711, 1)
    '3 % to 7.2 %'
    """
    return " to ".join(ends_text(lower, upper, digits))


def ends_text(lower: float, upper: float, digits: int = 2) -> tuple[str, str]:
    """The same as two texts."""
    down, up = Decimal(str(lower)), Decimal(str(upper))
    return _percent(down, digits, ROUND_FLOOR), _percent(up, digits, ROUND_CEILING)


def confidence_text(delta: float) -> str:
    """1 - delta in percent, never above its value.

    Examples
    --------
    >>> confidence_text(0.05), confidence_text(1e-6), confidence_text(1 / 3)
    ('95 %', '99.9999 %', '66.66 %')
    """
    failing = Decimal(str(delta)) * 100
    return _percent(1 - Decimal(str(delta)), max(2, -failing.adjusted()), ROUND_FLOOR)


def _percent(fraction: Decimal, digits: int, rounding: str) -> str:
    """A fraction in percent, without zeros at the end."""
    shown = (fraction * 100).quantize(Decimal(1).scaleb(-digits), rounding=rounding)
    text = f"{shown:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def claim_text(entry: AnyEntry, digits: int = 2) -> str:
    """A guarantee as one claim: quantity, limit and population.

    Examples
    --------
    >>> entry = {"quantity": "error", "side": "at most", "value": 0.09, "percent": True}
    >>> claim_text({**entry, "unit": "rows", "population": ""})
    'error at most 9 % on new rows'
    >>> claim_text({**entry, "unit": "groups", "population": "new groups"})
    'average error of a new group, each group counting once, at most 9 %'
    """
    limit = f"{_get(entry, 'side')} {limit_value(entry, digits)}"
    population = _get(entry, "population") or "new rows"
    if _get(entry, "unit") == "groups":
        which, where = _WHICH_GROUP.get(population), ""
        if which is None:
            which, where = "", f", on {population}"
        about = f"average {_get(entry, 'quantity')} of a new group{which}, each group counting once"
        return f"{about}, {limit}{where}"
    return f"{_get(entry, 'quantity')} {limit} on {population}"


def verdict_text(lead: AnyEntry, delta: float, useful: bool = True) -> str:
    """The sentence that people quote: claim and confidence, and beside it what a constant prediction gives.

    A cost always has the best constant decision beside it, other claims where they are not better.
    """
    quantity, value, against = _get(lead, "quantity"), _get(lead, "value"), ""
    at_least = _get(lead, "side") == AT_LEAST
    if value <= _get(lead, "floor") if at_least else value >= _get(lead, "ceiling"):
        return f"not guaranteed: {quantity}, because {_get(lead, 'note') or 'the rows are too few'}"
    constant = _get(lead, "decomposition").get(CONSTANT)
    if quantity == COST:
        against = (
            "; the best constant decision costs"
            if useful
            else ("; not proved better than the best constant decision, which costs")
        )
        against += f" {constant:.4g} on the holdout"
    elif constant is not None and not useful:
        shown = f"{100 * constant:.1f} %" if _get(lead, "percent") else f"{constant:.4g}"
        against = f"; not proved better than a constant prediction ({shown})"
    return f"guaranteed: {claim_text(lead)}, with probability at least {confidence_text(delta)}{against}"


def trivial_text(best: Entry | None, baseline: float | None) -> str:
    """Why the error is not guaranteed to be below the baseline, and what would help."""
    if best is not None and best.sample != "holdout":
        below = "" if baseline is None else f" below that of the majority class ({100 * baseline:.1f} %)"
        return f"no error{below} is guaranteed without a holdout; hold out rows and certify the model on them"
    if baseline is None or best is None:
        return "no guarantee could be given"
    rate = f"the majority-class baseline ({100 * baseline:.1f} %)"
    observed = best.decomposition.get("error rate")
    if observed is None or best.delta is None:
        return f"not guaranteed to beat {rate}"
    if observed > baseline - 1e-6:  # closer than any number of rows could tell
        return f"not guaranteed to beat {rate}: the observed error is not below it"
    enough = rows_needed(observed, min(baseline, 1.0), delta=best.delta, n_models=best.n_models)
    if enough <= best.n:  # betting needs more than the exact limit does
        enough = 2 * best.n
    return f"too few holdout {best.unit} to guarantee better than {rate}; about {enough:,} would do"


def _shown_value(entry: Mapping[str, Any]) -> str:
    value = entry["value"]
    if isinstance(value, str):  # an infinite diagnostic
        return value
    if entry["status"] == "ESTIMATE" and entry["percent"]:
        return f"{100 * value:.2f} %"
    return f"{value:.4g}"


def entry_text(entry: Mapping[str, Any]) -> str:
    """An entry in one line, such as "error at most 9 % on new rows, by holdout (Clopper-Pearson)"."""
    if entry["status"] == "GUARANTEE":
        return f"{claim_text(entry)}, by {entry['method']}"
    return f"{entry['method']} {_shown_value(entry)}"


def parts_text(entry: Mapping[str, Any]) -> str:
    """What an entry is made of; of a claim about groups, the limit of each group."""
    parts = entry["decomposition"].items()
    if entry["groups"]:
        return ", ".join(f"{name} {limit_value({**entry, 'value': value})}" for name, value in parts)
    return ", ".join(f"{name} {_part_value(entry, name, value)}" for name, value in parts)


def _part_value(entry: Mapping[str, Any], name: str, value: float) -> str:
    """A part in four digits; limits, and what lower limits are made of, are rounded to the safe side."""
    if name == UPPER:
        return _safe(value, ROUND_CEILING)
    below = name == LOWER or (entry["side"] == AT_LEAST and name not in ("observed", CONSTANT))
    return _safe(value, ROUND_FLOOR) if below else f"{value:.4g}"


def head_lines(certificate: Mapping[str, Any], *, baseline: bool = True) -> list[str]:
    """What comes before the details: assumptions, verdict, baseline, facts."""
    verdict = certificate["verdict"]
    lines = [f"Assumes {text} (your responsibility)." for text in certificate["assumptions"]]
    lines.append(f"{verdict[:1].upper()}{verdict[1:]}.")
    if baseline and certificate["majority_error"] is not None:
        lines.append(f"Baseline (majority class): error {100 * certificate['majority_error']:.2f} %.")
    return [*lines, *certificate["facts"]]


def sections(certificate: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The entries by their word; guarantees from the training sample apart from those of a holdout."""
    grouped: dict[str, list[dict[str, Any]]] = {name: [] for name in _SECTIONS}
    for entry in certificate["entries"]:
        in_sample = entry["status"] == "GUARANTEE" and entry["sample"] != "holdout"
        grouped[WITHOUT_HOLDOUT if in_sample else entry["status"]].append(entry)
    if certificate["other_rows"]:
        grouped["GUARANTEE"].append(certificate["other_rows"])
    return [(title, grouped[name]) for name, title in _SECTIONS.items() if grouped[name]]


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """Return the certificate for a terminal."""
    lines = [f"Certificate of {certificate['model']}", *(f"  {line}" for line in head_lines(certificate))]
    for title, entries in sections(certificate):
        lines += ["", title]
        for entry in entries:
            lines.append(f"  {entry_text(entry)}")
            lines += [f"      {detail}" for detail in _details(entry)]
    if certificate["withheld"]:
        lines += ["", f"Not guaranteed ({len(certificate['withheld'])}), and why"]
        lines += [f"  {item['method']}: {item['reason']}" for item in certificate["withheld"]]
    return "\n".join(lines)


def certificate_html(certificate: Mapping[str, Any]) -> str:
    """Return the certificate for a notebook: verdict and claims first, the rest folded."""
    guarantees = [entry for entry in certificate["entries"] if entry["status"] == "GUARANTEE"]
    trivial = " trivial" if certificate["trivial"] else ""
    lines, at = head_lines(certificate), len(certificate["assumptions"])
    parts = [f"<p>{escape(line)}</p>" for line in lines]
    parts[at] = f'<p class="verdict{trivial}">{escape(lines[at])}</p>'
    parts.append(_claim_bars(guarantees))
    parts.append("<details><summary>Methods, conditions, and what is not guaranteed</summary>")
    for title, entries in sections(certificate):
        parts.append(f"<table><caption>{escape(title)}</caption>")
        parts.append("<thead><tr><th>entry</th><th>details</th></tr></thead><tbody>")
        for entry in entries:
            details = "<br>".join(escape(detail) for detail in _details(entry))
            parts.append(f"<tr><td>{escape(entry_text(entry))}</td><td>{details}</td></tr>")
        parts.append("</tbody></table>")
    if certificate["withheld"]:
        parts.append(f"<p>Not guaranteed ({len(certificate['withheld'])}), and why</p><ul>")
        parts += [
            f"<li>{escape(item['method'])}: {escape(item['reason'])}</li>" for item in certificate["withheld"]
        ]
        parts.append("</ul>")
    parts.append("</details>")
    return framed(f"Certificate of {certificate['model']}", "\n".join(parts), "surewood-certificate")


def _claim_bars(guarantees: list[dict[str, Any]]) -> str:
    """Estimates (dots) beside their limits (bars), for rates."""
    rows, dots = [], []
    for entry in filter(itemgetter("percent"), guarantees):
        parts = entry["decomposition"]
        observed = parts.get("error rate", parts.get("observed"))
        start = 0.0 if observed is None else observed
        limit = f"{entry['side']} {limit_value(entry)}"
        rows.append((entry["quantity"], start, float(entry["value"]), "leaf-soft", limit))
        dots.append(observed)
    return bars(rows, dots) if rows else ""


def _details(entry: Mapping[str, Any]) -> list[str]:
    """Lines under an entry: sample, correction, parts, conditions."""
    facts = [counted_text(entry["n"], entry["sample"], entry["unit"])]
    if entry["delta"] is not None:
        facts.append(f"delta {entry['delta']:.4g}")
    if entry["n_models"] > 1:
        facts.append(f"corrected for {entry['n_models']} models")
    if entry["gamma_scale"] is not None and entry["status"] == "CRITERION":
        facts.append(f"gamma {entry['gamma_scale']:g}")
    if entry["biased"]:
        facts.append("biased: these rows took part in fitting or selection")
    lines = [", ".join(facts)]
    if entry["decomposition"]:
        lines.append(parts_text(entry))
    if entry["note"] and entry["status"] != "CRITERION":
        lines.append(entry["note"])
    # what is only assumed stands at the head of the certificate
    return lines + [str(Condition(**one)) for one in entry["conditions"] if one["source"] != CALLER]
