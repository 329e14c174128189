"""A certificate's dict as text and as HTML; guarantees keep a section of their own (theory.md §6.6)."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from typing import Any

__all__ = ["certificate_html", "certificate_text", "rounded_up"]

_SECTIONS = {
    "GUARANTEE": "GUARANTEE (error rate not exceeded, with probability 1 - delta over independent draws)",
    "CRITERION": "CRITERION (selection score, not a bound)",
    "ESTIMATE": "ESTIMATE (measured, not a bound)",
    "HEURISTIC": "HEURISTIC (diagnostic, not a bound)",
}


def rounded_up(value: float) -> str:
    """Four digits, never below the value: a promise must not be sharpened by printing it."""
    text = f"{value:.4g}"
    if float(text) >= value:
        return text
    return str(Decimal(value).normalize(Context(prec=4, rounding=ROUND_CEILING)))


def _value(entry: dict[str, Any]) -> str:
    return rounded_up(entry["value"]) if entry["status"] == "GUARANTEE" else f"{entry['value']:.4g}"


def certificate_text(certificate: dict[str, Any]) -> str:
    """Return the certificate for a terminal."""
    lines = [f"Certificate of {certificate['model']}", f"  {certificate['verdict']}"]
    if certificate["majority_error"] is not None:
        rate = f"{certificate['majority_error']:.4g}"
        lines.append(f"  always naming the largest class errs at a rate of {rate}")
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            lines += ["", title]
        for entry in entries:
            lines.append(f"  {_value(entry)}  {entry['method']}")
            lines += [f"      {detail}" for detail in _details(entry)]
    if certificate["withheld"]:
        lines += ["", "WITHHELD"]
        lines += [f"  {item['method']}: {item['reason']}" for item in certificate["withheld"]]
    return "\n".join(lines)


def certificate_html(certificate: dict[str, Any]) -> str:
    """Return the certificate as a fragment of HTML; every string in it is escaped."""
    parts = [
        '<div class="surewood-certificate">',
        f"<h3>Certificate of {escape(str(certificate['model']))}</h3>",
        f"<p><strong>{escape(certificate['verdict'])}</strong></p>",
    ]
    if certificate["majority_error"] is not None:
        rate = f"{certificate['majority_error']:.4g}"
        parts.append(f"<p>Always naming the largest class errs at a rate of {rate}.</p>")
    for status, title in _SECTIONS.items():
        entries = [entry for entry in certificate["entries"] if entry["status"] == status]
        if entries:
            parts.append(f'<table class="surewood-{status.lower()}"><caption>{escape(title)}</caption>')
            parts.append("<thead><tr><th>value</th><th>method</th><th>details</th></tr></thead><tbody>")
            parts += [_html_row(entry) for entry in entries]
            parts.append("</tbody></table>")
    if certificate["withheld"]:
        parts.append("<p>Withheld</p><ul>")
        parts += [
            f"<li>{escape(item['method'])}: {escape(item['reason'])}</li>" for item in certificate["withheld"]
        ]
        parts.append("</ul>")
    return "\n".join([*parts, "</div>"])


def _html_row(entry: dict[str, Any]) -> str:
    details = "<br>".join(escape(detail) for detail in _details(entry))
    return f"<tr><td>{_value(entry)}</td><td>{escape(entry['method'])}</td><td>{details}</td></tr>"


def _details(entry: dict[str, Any]) -> list[str]:
    """Lines under an entry: sample, correction, parts, conditions."""
    facts = [f"{entry['n']} {entry['sample']} points"]
    if entry["delta"] is not None:
        facts.append(f"delta {entry['delta']:.4g}")
    if entry["n_models"] > 1:
        facts.append(f"corrected for {entry['n_models']} models")
    if entry["gamma_scale"] is not None and entry["status"] == "CRITERION":
        facts.append(f"gamma {entry['gamma_scale']:g}")
    if entry["biased"]:
        facts.append("biased: these points took part in fitting or selection")
    lines = [", ".join(facts)]
    if entry["decomposition"]:
        lines.append(", ".join(f"{name} {value:.4g}" for name, value in entry["decomposition"].items()))
    if entry["note"] and entry["status"] != "CRITERION":
        lines.append(entry["note"])
    return lines + list(entry["conditions"])
