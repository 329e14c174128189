"""The look of the page for what a notebook shows: certificates, contributions, explanations, models.

Each output carries its own short style sheet, limited to itself. The colors are those of the page's style
sheet (report/static/page.css); a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_LIGHT = (
    "--card:#ffffff;--ink:#20241d;--soft:#646b5f;--line:#e3e1d8;--grid:#eceae2;--leaf:#2f7d4f;"
    "--leaf-soft:#cfe6d6;--sky:#3b72b0;--bark:#b0703a;--warn:#b5482f"
)
_DARK = (
    "--card:#1b1f17;--ink:#e8eae2;--soft:#a0a798;--line:#333a2c;--grid:#2a3024;--leaf:#6fc48c;"
    "--leaf-soft:#27452f;--sky:#7fb0e6;--bark:#d99c66;--warn:#e88a6f"
)
_STYLE = f"""
.surewood {{ {_LIGHT}; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: .7rem; padding: .8rem 1rem; max-width: 54rem; font: 14px/1.5 system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ .surewood {{ {_DARK} }} }}
[data-jp-theme-light="false"] .surewood {{ {_DARK} }} [data-jp-theme-light="true"] .surewood {{ {_LIGHT} }}
.surewood h3 {{ margin: 0 0 .4rem; font-size: 1.1rem; }}
.surewood h4 {{ margin: .8rem 0 .2rem; font-size: 1rem; }}
.surewood p {{ margin: .25rem 0; }} .surewood .soft {{ color: var(--soft); }}
.surewood .verdict {{ border-left: .3rem solid var(--leaf); padding: .3rem .8rem; font-size: 1.05rem; }}
.surewood .verdict.trivial {{ border-left-color: var(--bark); }}
.surewood table {{ border-collapse: collapse; margin: .4rem 0; color: inherit; background: none; }}
.surewood caption {{ text-align: left; color: var(--soft); }} .surewood tr {{ background: none !important; }}
.surewood th, .surewood td {{ text-align: left !important; padding: .25rem .8rem .25rem 0;
  vertical-align: top; border-bottom: 1px solid var(--line); }}
.surewood summary {{ cursor: pointer; color: var(--soft); margin-top: .4rem; }}
.surewood .rows {{ display: grid; grid-template-columns: fit-content(45%) minmax(6rem, 1fr) max-content;
  gap: .25rem .7rem; align-items: center; margin: .4rem 0; }}
.surewood .track {{ position: relative; height: .95rem; border-bottom: 1px solid var(--grid); }}
.surewood .track i {{ position: absolute; top: 0; bottom: 0; }}
.surewood .track i.dot {{ width: .75rem; height: .75rem; top: .1rem; margin-left: -.37rem;
  border-radius: 50%; }}
.surewood .tiles {{ display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; }}
.surewood .tiles b {{ font-size: 1.2rem; }}
.surewood .tiles span {{ display: block; color: var(--soft); font-size: .85em; }}
"""


def figure_text(figure: Mapping[str, Any]) -> str:
    """The value of a key figure of :func:`surewood.base.describing.figure`.

    Examples
    --------
    >>> figure_text({"value": 0.1234, "style": "percent", "digits": 1})
    '12.3 %'
    """
    value = figure["value"]
    if isinstance(value, bool | str) or value is None:
        return str("–" if value is None else value)
    if figure["style"] == "percent":
        return f"{100 * value:.{figure['digits']}f} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def framed(title: str, body: str, kind: str = "") -> str:
    """HTML in a frame with the page's look; `body` is HTML, `title` is text.

    Examples
    --------
    >>> framed("<T>", "<p>text</p>").endswith("<h3>&lt;T&gt;</h3><p>text</p></div>")
    True
    """
    name = f"surewood {kind}".strip()
    return f'<div class="{name}"><style>{_STYLE}</style><h3>{escape(title)}</h3>{body}</div>'


def bars(rows: Sequence[tuple[str, float, float, str, str]], dots: Sequence[float | None] = ()) -> str:
    """Bars on a common scale: name, start, stop, color and text of each; `dots` are marks on them.

    Examples
    --------
    >>> "width:50.0%" in bars([("a", 0.0, 1.0, "leaf", "1"), ("b", 0.0, 2.0, "leaf", "2")])
    True
    """
    ends = [end for _, start, stop, _, _ in rows for end in (start, stop)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    span = (high - low) or 1.0
    pieces = []
    for k, (name, start, stop, color, text) in enumerate(rows):
        left, width = 100 * (min(start, stop) - low) / span, 100 * abs(stop - start) / span
        at = dots[k] if k < len(dots) else None
        dot = ""
        if at is not None:
            place = 100 * (at - low) / span
            dot = f'<i class="dot" style="left:{place:.1f}%;background:var(--sky)"></i>'
        bar = f'<i style="left:{left:.1f}%;width:{width:.1f}%;background:var(--{color})"></i>'
        label = f'<span class="soft">{escape(text)}</span>'
        pieces.append(f'<span>{escape(name)}</span><span class="track">{bar}{dot}</span>{label}')
    return f'<div class="rows">{"".join(pieces)}</div>'


def tiles(facts: Sequence[tuple[str, str]]) -> str:
    """Values with their labels.

    Examples
    --------
    >>> tiles([("3", "trees")])
    '<div class="tiles"><div><b>3</b><span>trees</span></div></div>'
    """
    form = "<div><b>{}</b><span>{}</span></div>"
    inside = "".join(form.format(escape(value), escape(label)) for value, label in facts)
    return f'<div class="tiles">{inside}</div>'
