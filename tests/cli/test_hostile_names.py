"""Names, labels, categories and a file name from a stranger: no command passes them on as they are.

Pages and cards are read in a browser, terminals obey control characters, and spreadsheets run formulas. Every
command runs on one small table that tries all of these.
"""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from surewood._text import CONTROL
from tests.cli.command import run, write

CONTROLS = "\x1b]0;owned\x07\x1b[31m\x9b2J\r\x08\u202e\u2066\u200b\x85"
MARKUP = "</title></script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
FORMULA = "=cmd()|'/C calc'!A0"
LONG = 500 * "n"
TARGET = f"label{CONTROLS}{MARKUP}".replace("\r", "")  # names are read without line breaks
POSITIVE, NEGATIVE = f"{FORMULA}{CONTROLS}", f"-2+3{MARKUP}"
FILE = "rows\x1b[31m\u202e<script>alert(2)<&\"'.csv"
SMALL = ["--model", "rcf", "--set", "n_estimators=3", "--n-jobs", "1"]


def hostile_frame(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(60).round(3)
    return pd.DataFrame(
        {
            f"size{CONTROLS}": x,
            LONG: rng.standard_normal(60).round(3),
            FORMULA: np.where(x + rng.normal(0, 0.5, 60) > 0, f"@Rome{CONTROLS}{LONG}", f"+Oslo{MARKUP}"),
            MARKUP: rng.standard_normal(60).round(3),
            TARGET: np.where(x > 0, POSITIVE, NEGATIVE),
        }
    )


class Tags(HTMLParser):
    """The tags of a page, with the names of their attributes, and the texts of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.names, self.attributes, self.scripts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        if self.names and self.names[-1] == "script":
            self.scripts.append(data)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What every command wrote to the terminal, by its name, and the folder with its files."""
    folder = tmp_path_factory.mktemp("hostile")
    for number, name in enumerate((FILE, f"new {FILE}", f"batch {FILE}")):
        write(hostile_frame(number), folder / name, quoting=csv.QUOTE_ALL)
    fit = ["--target", TARGET, *SMALL]
    new, batch = f"new {FILE}", f"batch {FILE}"
    compare = ["--target", TARGET, "--only", "rcf,rf", "--folds", "2", "--n-jobs", "1"]
    commands = {
        "fit": ["fit", FILE, *fit, "--out", "m"],
        "fit --json": ["fit", FILE, *fit, "--out", "j", "--json"],
        "overview": ["explain", "m"],
        "overview --json": ["explain", "m", "--json"],
        "explain": ["explain", "m", new, "--row", "3"],
        "explain --json": ["explain", "m", new, "--json"],
        "predict": ["predict", "m", new, "--proba", "--keep", TARGET, "-o", "raw.csv"],
        "predict --safe-csv": ["predict", "m", new, "--keep", TARGET, "--safe-csv", "-o", "safe.csv"],
        "predict --json": ["predict", "m", new, "--json"],
        "certify": ["certify", "m", new],
        "certify --json": ["certify", "m", new, "--json"],
        "importances": ["importances", "m", new, "--repeats", "2"],
        "importances --json": ["importances", "m", new, "--repeats", "2", "--json"],
        "report": ["report", "m", new, "--out", "r"],
        "report --json": ["report", "m", new, "--out", "rj", "--json"],
        "compare": ["compare", FILE, *compare, "-o", "compare.html"],
        "compare --json": ["compare", FILE, *compare, "--json"],
        "monitor": ["monitor", "m", batch, "--state", "s.json", "--page", "monitor.html"],
        "monitor --json": ["monitor", "m", batch, "--state", "j.json", "--json"],
        "no column": ["predict", "m", new, "--keep", f"none{CONTROLS}{LONG}"],
        "no target": ["fit", FILE, "--target", f"none{CONTROLS}{LONG}"],
        "no file": ["predict", "m", f"none{FILE}"],
        "no model": ["explain", f"none{FILE}"],
    }
    return folder, {name: run(*words, folder=folder) for name, words in commands.items()}


def test_every_command_ends_as_it_should(shown):
    _, found = shown
    for name, one in found.items():
        expected = {2} if name.startswith("no ") else {0, 3} if name.startswith("monitor") else {0}
        assert one.returncode in expected, (name, one.stderr)
        assert "Traceback" not in one.stderr


def test_a_terminal_gets_no_control_character_and_no_long_name(shown):
    _, found = shown
    for name, one in found.items():
        assert not CONTROL.search(one.stdout + one.stderr), name
        if "--json" not in name:
            assert LONG[:130] not in one.stdout + one.stderr, name


def test_json_is_json_and_says_the_names_as_they_are(shown):
    _, found = shown
    for name, one in found.items():
        if name.endswith("--json"):
            json.loads(one.stdout)
    labels = {row["prediction"] for row in json.loads(found["predict --json"].stdout)["predictions"]}
    assert labels == {POSITIVE.strip(), NEGATIVE}


def test_files_for_people_hold_no_control_character(shown):
    folder, _ = shown
    files = [path for end in ("html", "md", "json", "toml") for path in folder.rglob(f"*.{end}")]
    assert {path.name for path in files} >= {"report.html", "card.md", "report.json", "plan.toml"}
    for path in files:
        assert not CONTROL.search(path.read_text(encoding="utf-8")), path


def test_pages_hold_no_element_of_a_name(shown):
    folder, _ = shown
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    assert set(pages) == {"report.html", "compare.html", "monitor.html"}
    for name, page in pages.items():
        tags = Tags(page)
        assert tags.names.count("title") >= 1
        assert "img" not in tags.names, name
        assert not [one for one in tags.attributes if one.startswith("on")], name
        assert not [one for one in tags.scripts if one.strip().startswith("alert(")], name
        assert "<script>alert" not in page, name


def test_cards_hold_no_element_of_a_name(shown):
    folder, _ = shown
    for path in folder.rglob("card.md"):
        lines = path.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("    "))  # those are shown as they are
        assert not re.search(r"(?<!\\)<(script|img|/title)", text)


def test_spreadsheets_run_no_formula_of_a_safe_file(shown):
    folder, _ = shown
    safe = pd.read_csv(folder / "safe.csv", dtype=str)
    assert len(safe) == 60
    cells = [*safe.columns, *safe.to_numpy().ravel()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert set(safe["prediction"]) == {f"'{POSITIVE.strip()}", f"'{NEGATIVE}"}
    raw = pd.read_csv(folder / "raw.csv", dtype=str)
    assert set(raw["prediction"]) == {POSITIVE.strip(), NEGATIVE}
