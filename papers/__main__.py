"""``python -m papers``: run a paper's protocol, get its data sets, write the tables of the documentation.

python -m papers rcf --profile quick
python -m papers get vowel dna
python -m papers tables --check
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from papers.datasets import info
from papers.output import complete_summary, print_summary, write_outputs
from papers.pages import stale_pages, take
from papers.protocol import NAMES, ROOT, PaperError, find_paper, read_profile
from papers.published_files import at_hand, get
from papers.runner import RESULTS, Display, run_paper
from surewood.report.page import write_text
from surewood.tables import DataError

_READINGS = "how the paper is read where it leaves something open (papers/readings.py); repeatable"


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except (PaperError, DataError, OSError) as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return code


class _Parser(argparse.ArgumentParser):
    """Answers a mistake with one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"papers: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m papers", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in NAMES:
        paper = commands.add_parser(name, help=f"run the protocol of {name} and print its table beside ours")
        paper.set_defaults(run=_run, paper=name)
        paper.add_argument(
            "--profile", default="quick", help="quick (minutes), standard, or full (published)"
        )
        paper.add_argument("--protocol", default="paper", help="paper, or official: the sets' own divisions")
        paper.add_argument("--reading", action="append", default=[], metavar="NAME=VALUE", help=_READINGS)
        paper.add_argument("--sets", help="only these data sets, separated by commas")
        paper.add_argument("--repeats", type=int, help="only the first repeats, folds or seeds of each set")
        paper.add_argument("--resume", action="store_true", help="continue with the records in the folder")
        paper.add_argument("--out", type=Path, help="folder of the results [reproduction/PAPER-PROFILE]")
        paper.add_argument("--n-jobs", type=int, default=1, help="threads; results do not depend on them")
        paper.add_argument("--json", action="store_true", help="print the summary as JSON")
    getting = commands.add_parser("get", help="make data sets from their published files")
    getting.set_defaults(run=_get)
    getting.add_argument("names", nargs="+")
    getting.add_argument(
        "--from", dest="folder", type=Path, help="folder with the files, instead of a download"
    )
    tables = commands.add_parser("tables", help="write the tables of the documentation")
    tables.set_defaults(run=_tables)
    tables.add_argument("--check", action="store_true", help="change nothing; fail when a page is stale")
    tables.add_argument(
        "--take", nargs="+", type=Path, default=[], metavar="RUN", help="commit these runs' records"
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    paper = find_paper(options.paper)
    profile = read_profile(options.paper, options.profile, options.protocol, options.reading)
    more = "" if profile.protocol_name == "paper" else f"-{profile.protocol_name}"
    name = re.sub(r"[^\w.=+-]+", "-", f"{options.paper}-{options.profile}{more}")
    folder = options.out or Path("reproduction") / name
    if folder.is_file():
        raise PaperError(f"--out {folder} is a file; name a folder.")
    sets = options.sets and [name.strip() for name in options.sets.split(",") if name.strip()]
    if options.sets is not None and not sets:
        raise PaperError("--sets names no data set; leave it out for all of them.")
    if options.repeats is not None and options.repeats < 1:
        raise PaperError(f"--repeats must be at least 1, not {options.repeats}.")
    display = Display(Console(stderr=True, width=None if sys.stderr.isatty() else 160))
    try:
        outcome = run_paper(
            paper,
            profile,
            folder,
            sets=sets,
            repeats=options.repeats,
            resume=options.resume,
            n_jobs=options.n_jobs,
            display=display,
        )
    except KeyboardInterrupt:
        print(f"\nstopped; {folder / RESULTS} resumes: add --resume to the command.", file=sys.stderr)
        return 130
    if not outcome.records:
        raise PaperError("none of the data sets is available.")
    summary = complete_summary(paper, profile, outcome.records, outcome.missing, sets)
    files = write_outputs(summary, outcome.records, folder)
    if options.json:
        print(json.dumps(summary, indent=2))
    else:
        print_summary(summary, Console(width=None if sys.stdout.isatty() else 160))
        print(f"\nthe page: {files['html']}")
    return 0


def _get(options: argparse.Namespace) -> int:
    failed = False
    for entry in [info(name) for name in options.names]:
        if options.folder is None and (here := at_hand(entry)) is not None:
            print(f"{entry.name}: already available ({here})")
            continue
        try:
            path = get(
                entry, options.folder, lambda address: print(f"downloading {address}", file=sys.stderr)
            )
        except (DataError, OSError) as error:
            failed = True
            print(f"papers: {error}", file=sys.stderr)
        else:
            print(f"{entry.name}: {path}")
    return int(failed)


def _tables(options: argparse.Namespace) -> int:
    for path in take(options.take, ROOT):
        print(f"{path.relative_to(ROOT)} was written")
    stale = list(stale_pages(ROOT))
    for path, text in stale:
        if not options.check:
            write_text(text, path)
        print(f"{path.relative_to(ROOT)} {'is stale' if options.check else 'was written'}")
    if options.check and stale:
        print("run `make papers`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
