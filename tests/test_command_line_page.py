"""Every command that docs/command-line.md shows with its output is run, and prints what the page shows.

The table is smaller than the page's, so numbers, labels, verdicts, the best baseline and the columns that
matter most may differ; other words and their order may not. Three dots on the page stand for any text.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surewood.cli import app

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
BLOCK = re.compile(r"^(?P<indent> *)```text\n(?P<text> *\$ .*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
#: What the page says of its table of 2,000 rows, and what fits 320 of them.
SMALLER = {"--max-rows 800": "--max-rows 240"}
#: What differs from table to table, and what takes its place; in this order.
VARIABLE = {
    r"(?s)members and weights .*?(?=\n *\n)": "MEMBERS",
    r"\d+(,\d{3}\b)*(\.\d+)?": "0",
    r"\b0 (ms|min 0 s|s)\b": "0 s",
    r"[+-](?=0)": "",
    r"(no difference shown|better|worse) \(": "VERDICT (",
    r"(?m)\bbest baseline *$": "",
    r"\b(yes|no)\b(\|(yes|no)\b)*": "LABEL",
    r"(?m)^( *)[a-z ]+ = \S+ ( *)0 ± 0 points": r"\1COLUMN = VALUE\2 0 ± 0 points",
    r"\s+": " ",
}


def shown():
    """Commands of the page with the output shown below them."""
    found = []
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        command, _, output = block["text"].partition("\n")
        found.append((command.strip().removeprefix("$ surewood "), output))
    return found


def plain(text):
    """A text without what may differ."""
    for pattern, instead in VARIABLE.items():
        text = re.sub(pattern, instead, text)
    return text.strip()


def customers(n, seed):
    """A table like the page's."""
    rng = np.random.default_rng(seed)
    months, calls, bill = rng.integers(1, 61, n), rng.poisson(1.5, n), rng.gamma(6, 9, n) + 15
    plan = rng.choice(["basic", "plus", "pro"], n)
    risk = 3 * (plan == "basic") - 0.08 * months + 1.2 * calls + 0.02 * bill - 1.4
    return pd.DataFrame(
        {
            "customer": 10_000 + rng.permutation(90_000)[:n],
            "plan": plan,
            "months": months,
            "bill": [f"${value:,.2f}" for value in bill],
            "support calls": calls,
            "region": rng.choice(["north", "south", "west"], n),
            "churned": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * risk)), "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The tables of the page; its commands leave their models here for those that follow."""
    for seed, (name, n) in enumerate({"customers": 320, "may": 200, "june": 120}.items()):
        customers(n, seed).to_csv(tmp_path / f"{name}.csv", index=False)
    customers(3, 3).drop(columns="churned").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)


def test_the_page_shows_every_command_that_prints_a_result():
    assert {command.split()[0] for command, _ in shown()} == {
        *("fit", "predict", "explain", "certify", "compare", "report", "monitor", "datasets")
    }


def test_every_command_prints_what_the_page_shows(folder):
    for command, output in shown():
        for page, here in SMALLER.items():
            command = command.replace(page, here)
        found = CliRunner().invoke(app, shlex.split(command), catch_exceptions=False)
        assert found.exit_code == 0, found.output
        assert not re.search(r" $", found.stdout, re.MULTILINE)
        pattern = ".*".join(re.escape(part.strip()) for part in plain(output).split("..."))
        told = f"{command}\n{found.stdout}"
        assert re.fullmatch(pattern.replace("\\ .*", ".*"), plain(found.stdout), re.DOTALL), told
