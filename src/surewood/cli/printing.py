"""What ``fit`` and ``certify`` print: the model, its errors, the certificate in short, notes, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from surewood._text import memory_text
from surewood.base.wording import counted_text, percent, plural
from surewood.certify.wording import entry_text, head_lines, parts_text
from surewood.cli.app import Text, shown
from surewood.cli.mistakes import as_options
from surewood.report.words import seconds

_MEANING = {
    "GUARANTEE": "holds for new rows like these",
    "CRITERION": "a score for choosing, not guaranteed",
    "ESTIMATE": "measured, not guaranteed",
    "HEURISTIC": "a diagnostic, not guaranteed",
}
_STATUS_STYLE = {"GUARANTEE": "bold green", "CRITERION": "yellow", "ESTIMATE": "cyan", "HEURISTIC": "dim"}


def grid(header: bool = False) -> Table:
    """A table without lines, as the command prints all of its tables."""
    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0), show_header=header)


def print_fit(out: Console, facts: Mapping[str, Any], files: Mapping[str, str], total: float) -> None:
    """The summary of a fit."""
    size = f"{facts['rows']:,} training rows, {facts['holdout_rows']:,} holdout rows"
    shape = f"{plural(facts['columns'], 'column')}, {len(facts['classes'])} classes"
    out.print(Text(f"{facts['table']}: {size}, {shape}"))
    if facts["choice"] is not None:
        out.print()
        print_choice(out, facts["choice"])
    out.print()
    peak = f", peak memory {memory_text(facts['peak_memory_bytes'])}" if facts["peak_memory_bytes"] else ""
    out.print(Text.assemble((facts["title"], "bold"), f", fitted in {seconds(facts['seconds'])}{peak}"))
    measured = _measured(facts)
    if measured.row_count:
        out.print(measured)
    out.print()
    print_certificate(out, facts["certificate"])
    print_notes(out, [*facts["notes"], *member_notes(facts["members"])])
    out.print()
    listed = grid()
    for what, path in files.items():
        listed.add_row(what, Text(path, overflow="fold"))
    out.print(listed)
    out.print(Text(f"\ntotal time {seconds(total)}", style="dim"))


def _measured(facts: Mapping[str, Any]) -> Table:
    """Scores on the holdout, and who predicts in a mixture."""
    measured = grid()
    found = facts["holdout"]
    if found is not None:
        what = "error of the most probable class" if found["has_rule"] else "holdout error"
        measured.add_row(f"  {what}", percent(found["error"]))
        measured.add_row("  baseline (majority class)", percent(found["majority_error"]))
        measured.add_row("  log-loss", f"{found['log_loss']:.4f}")
    if facts["members"]:
        measured.add_row("  members and weights", members_text(facts["members"]))
    return measured


def members_text(members: Sequence[Mapping[str, Any]]) -> str:
    """Members that predict, the heaviest first.

    Examples
    --------
    >>> members_text([{"title": "extra trees", "weight": 0.0}, {"title": "random forest", "weight": 1.0}])
    'random forest 1.00'
    """
    used = sorted((one for one in members if one["weight"] > 0), key=lambda one: -one["weight"])
    return ", ".join(f"{one['title']} {one['weight']:.2f}" for one in used)


def member_notes(members: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a time limit or the size of the table did to a member; not that one adds nothing to the others.

    Examples
    --------
    >>> late = {"title": "margin forest", "weight": 0.0, "seconds": 0.0, "note": "not started: no time"}
    >>> member_notes([late])
    ['margin forest: not started: no time.']
    """
    told = [one for one in members if one["note"] and (one["weight"] > 0 or one["seconds"] == 0)]
    return [f"{one['title']}: {one['note'].rstrip('.')}." for one in told]


def print_choice(out: Console, choice: dict[str, Any]) -> None:
    """The table that ``auto`` chose by, and why."""
    table = grid(header=True)
    for title in ("family", "error", "more than best", "log-loss", "time"):
        table.add_column(title, justify="left" if title == "family" else "right")
    for score in choice["scores"]:
        gap = "" if score["gap"] == 0 else f"{100 * score['gap']:.2f} ± {_noise(score)}"
        table.add_row(
            score["family"],
            percent(score["error"]),
            gap,
            f"{score['log_loss']:.4f}",
            seconds(score["seconds"]),
            style="bold" if score["family"] == choice["chosen"] else "",
        )
    out.print(Text(f"Out-of-fold scores, {choice['folds']} folds of {choice['rows']:,} training rows"))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))
    out.print(Text(f"{choice['chosen']} was chosen: {choice['why']}."))


def _noise(score: dict[str, Any]) -> str:
    return f"{100 * score['standard_error_of_gap']:.2f}"


def print_certificate(out: Console, certificate: dict[str, Any]) -> None:
    """What it assumes, the verdict, and each entry with its word."""
    out.print(Text("Certificate", style="bold"))
    for line in head_lines(certificate, baseline=False):
        out.print(Padding(Text(shown(as_options(line))), (0, 0, 0, 2), expand=False))
    table = grid()
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    other_rows = [certificate["other_rows"]] if certificate["other_rows"] else []
    for entry in (*certificate["entries"], *other_rows):
        details = f"{entry_text(entry)}, {counted_text(entry['n'], entry['sample'], entry['unit'])}"
        if entry["n_models"] > 1:
            details += f", corrected for {entry['n_models']} models"
        if entry["biased"]:
            details += ", biased: also used for fitting or selection"
        if entry["groups"]:
            details += f"; {parts_text(entry)}"
        if entry["status"] == "GUARANTEE" and entry["sample"] != "holdout":
            details += "; known without a holdout"
        table.add_row(Text(entry["status"], style=_STATUS_STYLE[entry["status"]]), Text(details))
    out.print(Padding(table, (0, 0, 0, 2), expand=False))
    withheld = [one for one in certificate["withheld"] if one["reason"] not in certificate["verdict"]]
    if withheld:
        title = Text(f"Not guaranteed ({len(withheld)}), and why")
        out.print(Padding(title, (0, 0, 0, 2), expand=False))
        for item in withheld:
            text = Text(shown(as_options(f"{item['method']}: {item['reason']}")))
            out.print(Padding(text, (0, 0, 0, 4), expand=False))
    words = {entry["status"] for entry in certificate["entries"]}
    meanings = "; ".join(f"{word}: {meaning}" for word, meaning in _MEANING.items() if word in words)
    out.print(Padding(Text(f"{meanings}.", style="dim"), (0, 0, 0, 2), expand=False))


def print_notes(out: Console, notes: Sequence[str]) -> None:
    """Notes, one per line."""
    if notes:
        out.print()
        out.print(Text("Notes", style="bold"))
        for note in notes:
            out.print(Padding(Text(shown(as_options(note))), (0, 0, 0, 2), expand=False))
