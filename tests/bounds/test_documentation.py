"""docs/bounds.md lists every public function, with a known status word."""

import inspect
import re
from pathlib import Path

import pytest

from surewood import bounds

PAGE = Path(__file__).parents[2] / "docs" / "bounds.md"
WORDS = {"GUARANTEE", "CRITERION", "ESTIMATE", "HEURISTIC", "formula", "statistic"}


@pytest.fixture(scope="module")
def rows():
    section = PAGE.read_text(encoding="utf-8").split("## Every function")[1]
    table = re.findall(r"^\| `(\w+)` \|(.*)\|$", section, flags=re.M)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in table}


def public_functions():
    return {name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))}


def test_every_public_function_has_exactly_one_row(rows):
    assert public_functions() - set(rows) == set()
    assert set(rows) - public_functions() == set()


def test_every_row_has_equation_status_and_validity(rows):
    for name, cells in rows.items():
        assert len(cells) == 3, name
        assert all(cells), name
        assert set(re.split(r"[ ,/]+", cells[1])) <= WORDS, name


def test_public_names_are_documented_with_examples():
    for name in public_functions():
        text = inspect.getdoc(getattr(bounds, name))
        assert ">>>" in text, name
