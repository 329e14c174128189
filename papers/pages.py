"""Tables in the documentation, made from the committed ``papers/*/results.csv``.

On a page, what stands between ``<!-- NAME -->`` and ``<!-- end NAME -->`` is replaced. NAME is a paper and
the part wanted: ``rcf:errors`` (a table of the summary by its name), ``rcf:counts``, ``rcf:run``,
``rcf:deviations``, ``rcf:notes``; ``rcf_official:errors`` is about the records of the
official protocol, ``rcf:either`` about both. ``rcf:readings`` ranks all protocols and readings of the
records, ``rcf:best`` has the numbers of the first, ``rcf:hindsight`` the best point of its grid,
``cascades:depths`` the leaves of all; ``rcf:unreached`` lists the values that we do not reach
(:mod:`papers.unreached`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from papers.output import complete_summary, deviations_table, markdown_table, run_sentence
from papers.protocol import NAMES, PAPER, PaperError, find_paper, paper_folder, read_profile
from papers.rcf.tables import either_line
from papers.records import read_csv, read_records, to_csv
from papers.runner import RESULTS
from papers.unreached import best_table, depths_table, hindsight_table, ranking_table, unreached_table
from surewood.report.page import write_text

PAGES = ("docs/research/reproduction.md", "docs/research/unreached-cells.md")
_MARK = re.compile(r"<!-- ((\w+):(\w+)) -->\n(.*?)<!-- end \1 -->", re.DOTALL)


@cache
def summary_of(paper: str, division: str = PAPER) -> dict[str, Any]:
    """The summary of a paper's committed results under one protocol."""
    path = paper_folder(paper) / "results.csv"
    if not path.is_file():
        raise PaperError(f"papers/{paper}/results.csv is not there; commit the runner's results.csv first.")
    records = [record for record in read_csv(path) if record["protocol"] == division]
    if not records:
        raise PaperError(f"papers/{paper}/results.csv has no records of the protocol {division!r}.")
    profiles = {record["profile"] for record in records}
    if len(profiles) != 1:
        raise PaperError(f"papers/{paper}/results.csv mixes the profiles {', '.join(sorted(profiles))}.")
    return complete_summary(find_paper(paper), read_profile(paper, profiles.pop(), division), records)


def _committed(paper: str) -> list[dict[str, Any]]:
    return read_csv(paper_folder(paper) / "results.csv")


def part(paper: str, name: str) -> str:
    """A part of a paper's summary as Markdown."""
    name_of_paper, _, division = paper.partition("_")
    if name_of_paper not in NAMES:
        raise PaperError(f"there is no paper called {paper!r}.")
    summary = summary_of(name_of_paper, division or PAPER)
    makers: dict[str, Callable[[], str]] = {
        "either": lambda: f"* {either_line(_committed(name_of_paper))}",
        "counts": lambda: "\n".join(f"* {line}" for line in summary["counts"]),
        "run": lambda: run_sentence(summary),
        "deviations": lambda: markdown_table(deviations_table(summary)),
        "notes": lambda: "\n".join(f"* {note}" for note in summary["notes"]),
        "unreached": lambda: _with_note(unreached_table(name_of_paper, _committed(name_of_paper))),
        "readings": lambda: _with_note(ranking_table(name_of_paper, _committed(name_of_paper))),
        "best": lambda: _with_note(best_table(name_of_paper, _committed(name_of_paper))),
        "depths": lambda: _with_note(depths_table(_committed("cascades"))),
        "hindsight": lambda: _with_note(hindsight_table(_committed("rcf"))),
    }
    if name in makers:
        return makers[name]()
    for table in summary["tables"]:
        if table["name"] == name:
            return _with_note(table)
    names = [*makers, *(table["name"] for table in summary["tables"])]
    raise PaperError(f"{paper} has no part {name!r}; it has {', '.join(names)}.")


def _with_note(table: dict[str, Any]) -> str:
    note = f"\n\n{table['note']}" if table.get("note") else ""
    return markdown_table(table) + note


def filled(page: str) -> str:
    """A page with every marked part made anew."""
    return _MARK.sub(lambda m: f"<!-- {m[1]} -->\n{part(m[2], m[3])}\n<!-- end {m[1]} -->", page)


def stale_pages(root: Path) -> Iterator[tuple[Path, str]]:
    """Pages that do not say what the results say, and what they should say."""
    for name in PAGES:
        path = root / name
        text = path.read_text(encoding="utf-8")
        wanted = filled(text)
        if wanted != text:
            yield path, wanted


def take(folders: Sequence[Path], root: Path) -> list[Path]:
    """Put the records of runs into ``papers/NAME/results.csv``, in the place of others of their protocol."""
    records: dict[str, list[dict[str, Any]]] = {}
    for folder in folders:
        if not (folder / RESULTS).is_file():
            raise PaperError(f"{folder} has no {RESULTS}; it is not the folder of a run.")
        settings, own = read_records(folder / RESULTS)
        records.setdefault(str(settings["paper"]), []).extend(own)
    written = []
    for paper, own in records.items():
        protocols = {record["protocol"] for record in own}
        for protocol in sorted(protocols):
            commits = {r["versions"].get("commit") for r in own if r["protocol"] == protocol}
            if len(commits) > 1 or not all(commits):
                raise PaperError(
                    f"the records of {paper} under the protocol {protocol!r} come from more than one commit, "
                    f"or from none that is known: {', '.join(sorted(str(name) for name in commits))}."
                )
        path = root / "papers" / paper / "results.csv"
        kept = [r for r in (read_csv(path) if path.is_file() else []) if r["protocol"] not in protocols]
        write_text(to_csv(kept + own), path)
        written.append(path)
    return written
