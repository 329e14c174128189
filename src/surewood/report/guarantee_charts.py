"""Charts about guarantees: estimates beside their limits, groups, and what abstaining would buy."""

from __future__ import annotations

from typing import Any

from surewood.estimators.wording import plural
from surewood.report.bar_rows import BarRow, Part, bar_rows
from surewood.report.charts import figure
from surewood.report.plot import Plot, alt_text
from surewood.report.scales import Axis, fitted_axis
from surewood.report.words import percent, percent_up

__all__ = ["abstention_chart", "claim_chart", "group_charts"]

MOST_GROUPS = 40
_NAMES = (("estimate", "sky", "dot"), ("guaranteed limit", "leaf", "tick"))


def claim_chart(claims: list[dict[str, Any]], baseline: float | None) -> dict[str, Any] | None:
    """Estimate and limit of each claim side by side."""
    rates = [claim for claim in claims if claim["is_rate"]]
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
        caption="The dot was measured on the holdout; the bar ends at what is guaranteed for new rows.",
    )


def _limit_row(
    name: str, observed: float | None, limit: float, side: str, text: str, more: str = ""
) -> BarRow:
    told = f"{name}: guaranteed {side} {text}"
    parts = []
    if observed is not None:
        told = f"{told}, estimate {percent(observed, 1)}{more}"
        parts = [Part(observed, limit, "leaf-soft", told), Part(observed, observed, "sky", told, "dot")]
    parts.append(Part(limit, limit, "leaf", told, "tick"))
    sign = "≥" if side == "at least" else "≤"
    shown = f"{sign} {text}" if observed is None else f"{percent(observed, 1)}, {sign} {text}"
    return BarRow(name, parts, shown, told)


def group_charts(claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One chart per claim about groups, the group with the largest limit first."""
    found = []
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
                percent_up(group["limit"], 1),
            )
            for group in groups
        ]
        axis = fitted_axis([group["limit"] for group in groups], "percent", include=(0.0,), limits=(0.0, 1.0))
        left = len(claim["groups"]) - len(groups)
        more = f" {left:,} groups with smaller limits are not drawn." if left else ""
        title = f"{claim['quantity'][:1].upper()}{claim['quantity'][1:]}"
        found.append(
            figure(
                title,
                bar_rows(rows, axis=axis, names=_NAMES),
                caption=f"All limits hold at once; small groups have wide ones.{more}",
                alt=alt_text(title, [(row.name, row.value) for row in rows]),
            )
        )
    return found


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
        f"With {percent(1 - facts['delta'], 0)} confidence (for this chart by itself): if it abstains "
        f"where its largest probability is below {best['threshold']:.2f}, it decides {share} of the rows "
        f"with an error of at most {error}. --abstain-error, or find_threshold in Python, sets such a rule."
    )
    alt = f"If the model may abstain: {'; '.join(told)}"
    return figure("If the model may abstain", plot.render(), caption=caption, alt=alt)
