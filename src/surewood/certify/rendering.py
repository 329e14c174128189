"""A certificate's dict as text and as HTML; guarantees keep a section of their own (theory.md §6.6)."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape
from typing import Any

from surewood.bounds import AT_LEAST, Entry

__all__ = ["certificate_html", "certificate_text", "limit_text", "rounded_down", "rounded_up"]

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
    """A guarantee in words, such as "error at most 0.09"."""
    return f"{entry.quantity} {entry.side} {_limit(entry.value, entry.side)}"


def _limit(value: float, side: str) -> str:
    return rounded_down(value) if side == AT_LEAST else rounded_up(value)


def _value(entry: dict[str, Any]) -> str:
    if entry["status"] != "GUARANTEE":
        return f"{entry['value']:.4g}"
    return _limit(entry["value"], entry["side"])


def _title(entry: dict[str, Any]) -> str:
    if entry["status"] != "GUARANTEE" or entry["quantity"] == "error":
        return str(entry["method"])
    return f"{entry['quantity']} {entry['side']}, {entry['method']}"


def _head(certificate: dict[str, Any]) -> list[str]:
    """What comes before any number: facts, assumptions, verdict, baseline."""
    lines = [
        *certificate["facts"],
        *(f"Assumes {text} (your responsibility)." for text in certificate["assumptions"]),
        certificate["verdict"],
    ]
    if certificate["majority_error"] is not None:
        lines.append(f"baseline (majority class): error {certificate['majority_error']:.4g}")
    return lines


def certificate_text(certificate: dict[str, Any]) -> str:
    """Return the certificate for a terminal."""
    lines = [f"Certificate of {certificate['model']}", *(f"  {line}" for line in _head(certificate))]
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            lines += ["", title]
        for entry in entries:
            lines.append(f"  {_value(entry)}  {_title(entry)}")
            lines += [f"      {detail}" for detail in _details(entry)]
    if certificate["withheld"]:
        lines += ["", f"Not guaranteed ({len(certificate['withheld'])}), and why"]
        lines += [f"  {item['method']}: {item['reason']}" for item in certificate["withheld"]]
    return "\n".join(lines)


def certificate_html(certificate: dict[str, Any]) -> str:
    """Return the certificate as a fragment of HTML; every string in it is escaped."""
    parts = [
        '<div class="surewood-certificate">',
        f"<h3>Certificate of {escape(str(certificate['model']))}</h3>",
        *(f"<p>{escape(line)}</p>" for line in _head(certificate)),
    ]
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            parts.append(f'<table class="surewood-{status.lower()}"><caption>{escape(title)}</caption>')
            parts.append("<thead><tr><th>value</th><th>method</th><th>details</th></tr></thead><tbody>")
            parts += [_html_row(entry) for entry in entries]
            parts.append("</tbody></table>")
    if certificate["withheld"]:
        parts.append(f"<p>Not guaranteed ({len(certificate['withheld'])}), and why</p><ul>")
        parts += [
            f"<li>{escape(item['method'])}: {escape(item['reason'])}</li>" for item in certificate["withheld"]
        ]
        parts.append("</ul>")
    return "\n".join([*parts, "</div>"])


def _html_row(entry: dict[str, Any]) -> str:
    details = "<br>".join(escape(detail) for detail in _details(entry))
    return f"<tr><td>{_value(entry)}</td><td>{escape(_title(entry))}</td><td>{details}</td></tr>"


def _details(entry: dict[str, Any]) -> list[str]:
    """Lines under an entry: sample, correction, parts, conditions."""
    facts = [f"{entry['n']} {entry['sample']} {entry['unit']}"]
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
        lines.append(", ".join(f"{name} {value:.4g}" for name, value in entry["decomposition"].items()))
    if entry["note"] and entry["status"] != "CRITERION":
        lines.append(entry["note"])
    # what is only assumed stands at the head of the certificate
    return lines + [text for text in entry["conditions"] if not text.startswith("assumes ")]
