"""Tables in the documentation, made from the committed ``papers/*/results.csv``.

    python -m surewood.experiments.tables            # write them
    python -m surewood.experiments.tables --check    # fail when a page and its results disagree
    python -m surewood.experiments.tables --take reproduction/rcf-standard reproduction/rcf-standard-official

The last one first writes ``papers/*/results.csv`` from the records of these runs. On a page, what stands
between ``<!-- NAME -->`` and ``<!-- end NAME -->`` is replaced. NAME is a paper and the part wanted:
``rcf:errors`` (a table of the summary by its name), ``rcf:bars``, ``rcf:run``, ``rcf:deviations``,
``rcf:notes``, ``rcf:missing``; ``rcf_official:errors`` is about the records of the official protocol, and
``rcf:either`` about both. ``rcf:findings``, ``rcf:trials`` and their like are about cells that we do not
reach, from ``papers/*/trials.csv`` too (:mod:`~surewood.experiments.trials`).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from surewood.experiments import trials
from surewood.experiments.errors import ExperimentError
from surewood.experiments.output import bar_lines, deviations_table, markdown_table, run_sentence
from surewood.experiments.paper import HOMES, find_paper
from surewood.experiments.protocol import PAPER, paper_folder, read_profile
from surewood.experiments.rcf.either_protocol import either_bar
from surewood.experiments.records import read_records
from surewood.experiments.results_csv import read_csv, to_csv
from surewood.experiments.runner import RESULTS
from surewood.experiments.summary import complete_summary
from surewood.report.rendering import write_text

PAGES = ("docs/research/reproduction.md", "docs/research/unreached-cells.md")
_MARK = re.compile(r"<!-- ((\w+):(\w+)) -->\n(.*?)<!-- end \1 -->", re.DOTALL)


@cache
def summary_of(paper: str, division: str = PAPER) -> dict[str, Any]:
    """The summary of a paper's committed results under one protocol."""
    path = paper_folder(paper) / "results.csv"
    if not path.is_file():
        raise ExperimentError(
            f"papers/{paper}/results.csv is not there; commit the runner's results.csv first."
        )
    records = [record for record in read_csv(path) if record["protocol"] == division]
    if not records:
        raise ExperimentError(f"papers/{paper}/results.csv has no records of the protocol {division!r}.")
    profiles = {record["profile"] for record in records}
    if len(profiles) != 1:
        raise ExperimentError(f"papers/{paper}/results.csv mixes the profiles {', '.join(sorted(profiles))}.")
    return complete_summary(find_paper(paper), read_profile(paper, profiles.pop(), division), records)


def _committed(paper: str) -> list[dict[str, Any]]:
    return read_csv(paper_folder(paper) / "results.csv")


def part(paper: str, name: str) -> str:
    """A part of a paper's summary as Markdown."""
    own, _, division = paper.partition("_")
    if own not in HOMES:
        raise ExperimentError(f"there is no paper called {paper!r}.")
    summary = summary_of(own, division or PAPER)
    makers: dict[str, Callable[[], str]] = {
        "either": lambda: "\n".join(bar_lines({"bars": [either_bar(_committed(own))]})),
        "bars": lambda: "\n".join(bar_lines(summary)),
        "run": lambda: run_sentence(summary),
        "deviations": lambda: markdown_table(deviations_table(summary)),
        "notes": lambda: "\n".join(f"* {note}" for note in summary["notes"]),
        "missing": lambda: (
            "\n".join(f"* {m['dataset']}: {m['reason']}" for m in summary["missing"]) or "Nothing is missing."
        ),
    }
    if name in makers:
        return makers[name]()
    tried = trials.parts(own, _committed(own))
    if name in tried:
        found = tried[name]()
        return found if isinstance(found, str) else _with_note(found)
    for table in summary["tables"]:
        if table["name"] == name:
            return _with_note(table)
    known = [*makers, *tried, *(table["name"] for table in summary["tables"])]
    raise ExperimentError(f"{paper} has no part {name!r}; it has {', '.join(known)}.")


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
    """Write ``papers/NAME/results.csv`` from the records of runs; runs of one paper stand in one table."""
    records: dict[str, list[dict[str, Any]]] = {}
    for folder in folders:
        settings, own = read_records(folder / RESULTS)
        records.setdefault(str(settings["paper"]), []).extend(own)
    written = []
    for paper, own in records.items():
        commits = {record["versions"].get("commit") for record in own}
        if len(commits) > 1 or not all(commits):
            raise ExperimentError(
                f"the records of {paper} come from more than one commit, or from none that is known: "
                f"{', '.join(sorted(str(name) for name in commits))}."
            )
        path = root / "papers" / paper / "results.csv"
        write_text(to_csv(own), path)
        written.append(path)
    return written


def main() -> None:
    """Write the tables into their pages, or check them."""
    parser = argparse.ArgumentParser(description="Tables in the documentation from papers/*/results.csv.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a page is stale")
    parser.add_argument("--take", nargs="+", type=Path, metavar="RUN", help="take the records of these runs")
    options = parser.parse_args()
    check = options.check
    root = paper_folder("rcf").parents[1]
    for path in take(options.take or [], root):
        print(f"{path.relative_to(root)} was written")
    stale = list(stale_pages(root))
    for path, wanted in stale:
        if not check:
            write_text(wanted, path)
        print(f"{path.relative_to(root)} {'is stale' if check else 'was written'}")
    if check and stale:
        sys.exit("run `make papers`")


if __name__ == "__main__":
    main()
