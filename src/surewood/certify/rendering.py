"""A certificate's dict as text and as HTML; guarantees keep a section of their own (theory.md §6.6)."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape
from typing import Any

from surewood.bounds import AT_LEAST, Entry
from surewood.estimators.notebook import bars, framed
from surewood.estimators.wording import counted_text

__all__ = [
    "certificate_html",
    "certificate_text",
    "confidence_text",
    "entry_text",
    "limit_text",
    "parts_text",
    "rounded_down",
    "rounded_up",
]

_NOT_A_RATE = ("expected cost", "Brier score")

_SECTIONS = {
    "GUARANTEE": "GUARANTEE (holds with probability 1 - delta over independent draws)",
    "CRITERION": "CRITERION (selection score, not a bound)",
    "ESTIMATE": "ESTIMATE (measured, not a bound)",
    "HEURISTIC": "HEURISTIC (diagnostic, not a bound)",
}


def rounded_up(value: float) -> str:
    """Four digits, never below the value: a guarantee must not be sharpened by printing it."""
    text = f"{value:.4g}"
    if float(text) >= value:
        return text
    return str(Decimal(value).normalize(Context(prec=4, rounding=ROUND_CEILING)))


def rounded_down(value: float) -> str:
    """Four digits, never above the value."""
    text = f"{value:.4g}"
    if float(text) <= value:
        return text
    return str(Decimal(value).normalize(Context(prec=4, rounding=ROUND_FLOOR)))


def limit_text(entry: Entry) -> str:
    """A guarantee in words, such as "error at most 9 %"."""
    return f"{entry.quantity} {entry.side} {_limit(entry.quantity, entry.value, entry.side)}"


def confidence_text(delta: float) -> str:
    """1 - delta in percent, never above its value.

    Examples
    --------
    >>> confidence_text(0.05), confidence_text(1e-6), confidence_text(1 / 3)
    ('95 %', '99.9999 %', '66.66 %')
    """
    failing = Decimal(str(delta)) * 100
    digits = max(2, -failing.adjusted())
    return _percent(1 - Decimal(str(delta)), digits, ROUND_FLOOR)


def _percent(fraction: Decimal, digits: int, rounding: str) -> str:
    """A fraction in percent, without zeros at the end."""
    shown = (fraction * 100).quantize(Decimal(1).scaleb(-digits), rounding=rounding)
    text = f"{shown:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def _limit(quantity: str, value: float, side: str) -> str:
    """A limit as printed: rates in percent, never sharper than they are."""
    if quantity in _NOT_A_RATE:
        return rounded_down(value) if side == AT_LEAST else rounded_up(value)
    exact = Decimal(str(value))
    digits = max(2, -exact.adjusted()) if exact else 2  # two decimals, more for very small rates
    return _percent(exact, digits, ROUND_FLOOR if side == AT_LEAST else ROUND_CEILING)


def _value(entry: dict[str, Any]) -> str:
    value = entry["value"]
    if isinstance(value, str):  # an infinite diagnostic
        return value
    if entry["status"] == "GUARANTEE":
        return _limit(entry["quantity"], value, entry["side"])
    if entry["status"] == "ESTIMATE" and "error" in entry["method"]:
        return f"{100 * value:.2f} %"
    return f"{value:.4g}"


def entry_text(entry: dict[str, Any]) -> str:
    """An entry in one line, such as "error at most 9 %, by holdout (Clopper-Pearson)"."""
    if entry["status"] == "GUARANTEE":
        return f"{entry['quantity']} {entry['side']} {_value(entry)}, by {entry['method']}"
    return f"{entry['method']} {_value(entry)}"


def parts_text(entry: dict[str, Any]) -> str:
    """What an entry is made of; of a claim about groups, the limit of each group."""
    by_group = entry["quantity"].startswith("error in every ")
    shown = {
        name: _limit("error", value, entry["side"]) if by_group else f"{value:.4g}"
        for name, value in entry["decomposition"].items()
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def _head(certificate: dict[str, Any]) -> list[str]:
    """What comes before the details: assumptions, verdict, baseline, facts."""
    verdict = certificate["verdict"]
    lines = [f"Assumes {text} (your responsibility)." for text in certificate["assumptions"]]
    lines.append(f"{verdict[:1].upper()}{verdict[1:]}.")
    if certificate["majority_error"] is not None:
        lines.append(f"Baseline (majority class): error {100 * certificate['majority_error']:.2f} %.")
    return [*lines, *certificate["facts"]]


def certificate_text(certificate: dict[str, Any]) -> str:
    """Return the certificate for a terminal."""
    lines = [f"Certificate of {certificate['model']}", *(f"  {line}" for line in _head(certificate))]
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            lines += ["", title]
        for entry in entries:
            lines.append(f"  {entry_text(entry)}")
            lines += [f"      {detail}" for detail in _details(entry)]
    if certificate["withheld"]:
        lines += ["", f"Not guaranteed ({len(certificate['withheld'])}), and why"]
        lines += [f"  {item['method']}: {item['reason']}" for item in certificate["withheld"]]
    return "\n".join(lines)


def certificate_html(certificate: dict[str, Any]) -> str:
    """Return the certificate as a fragment of HTML; every string in it is escaped."""
    verdict, *others = _head(certificate)
    trivial = " trivial" if certificate["trivial"] else ""
    parts = [
        f'<p class="verdict{trivial}">{escape(verdict)}</p>',
        *(f"<p>{escape(line)}</p>" for line in others),
    ]
    parts.append(_claim_bars([entry for entry in certificate["entries"] if entry["status"] == "GUARANTEE"]))
    parts.append("<details><summary>Methods, conditions, and what is not guaranteed</summary>")
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            parts.append(f'<table class="surewood-{status.lower()}"><caption>{escape(title)}</caption>')
            parts.append("<thead><tr><th>entry</th><th>details</th></tr></thead><tbody>")
            parts += [_html_row(entry) for entry in entries]
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
    for entry in guarantees:
        if entry["quantity"] in ("expected cost", "Brier score"):
            continue
        parts = entry["decomposition"]
        observed = parts.get("error rate", parts.get("observed"))
        start = 0.0 if observed is None else observed
        rows.append(
            (entry["quantity"], start, float(entry["value"]), "leaf-soft", f"{entry['side']} {_value(entry)}")
        )
        dots.append(observed)
    return bars(rows, dots) if rows else ""


def _html_row(entry: dict[str, Any]) -> str:
    details = "<br>".join(escape(detail) for detail in _details(entry))
    return f"<tr><td>{escape(entry_text(entry))}</td><td>{details}</td></tr>"


def _details(entry: dict[str, Any]) -> list[str]:
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
    if entry["population"] and entry["status"] == "GUARANTEE":
        lines.append(f"for {entry['population']}")
    if entry["decomposition"]:
        lines.append(parts_text(entry))
    if entry["note"] and entry["status"] != "CRITERION":
        lines.append(entry["note"])
    # what is only assumed stands at the head of the certificate
    return lines + [text for text in entry["conditions"] if not text.startswith("assumes ")]
