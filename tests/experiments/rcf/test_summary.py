"""The tables and bars of random composite forests, from the committed results and from fewer."""

from pathlib import Path

import pytest

from surewood.experiments.protocol import read_profile
from surewood.experiments.rcf.summary import NAMES, PROTOCOL, WITH_VALIDATION, summarise
from surewood.experiments.results_csv import read_csv

RESULTS = Path(__file__).parents[3] / "papers" / "rcf" / "results.csv"


@pytest.fixture(scope="module")
def records():
    return read_csv(RESULTS)


@pytest.fixture(scope="module")
def summary(records):
    return summarise(records, read_profile("rcf", records[0]["profile"]))


def test_every_row_fills_its_columns(summary):
    for table in summary["tables"]:
        assert table["rows"], table["name"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"]), table["name"]


def test_the_main_table_has_the_mean_errors(records, summary):
    own = [100 * r["metrics"]["error"] for r in records if (r["dataset"], r["method"]) == ("sonar", "rcf")]
    (row,) = (row for row in summary["tables"][0]["rows"] if row[0] == "sonar")
    assert row[4].startswith(f"{sum(own) / len(own):.2f} ± ")


def test_ranks_of_both_groups_add_up(summary):
    ranks = dict(summary["tables"][-1]["rows"])
    other = [method for method, name in NAMES.items() if name in ranks and method not in PROTOCOL]
    assert set(other) >= set(WITH_VALIDATION)
    for group in (PROTOCOL, other):
        total = sum(float(ranks[NAMES[method]]) for method in group)
        assert total == pytest.approx(len(group) * (len(group) + 1) / 2, abs=0.03)


def test_missing_sets_are_named_and_no_bar_is_met_by_them(records):
    fewer = [r for r in records if r["dataset"] == "sonar"]
    found = summarise(fewer, read_profile("rcf", fewer[0]["profile"]))
    (row,) = (row for row in found["tables"][0]["rows"] if row[0] == "vowel")
    assert row[2:] == ["missing", row[3], "missing", "missing", "missing"]
    assert all(bar["met"] is not True for bar in found["bars"])
