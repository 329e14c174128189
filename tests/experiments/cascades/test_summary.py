"""The cascades' tables and bars, from the committed results and from fewer."""

from pathlib import Path

import pytest

from surewood.experiments.cascades.summary import NAMES, summarise
from surewood.experiments.protocol import read_profile
from surewood.experiments.results_csv import read_csv

RESULTS = Path(__file__).parents[3] / "papers" / "cascades" / "results.csv"


@pytest.fixture(scope="module")
def records():
    return read_csv(RESULTS)


def table(records, name):
    found = summarise(records, read_profile("cascades", records[0]["profile"]))["tables"]
    (own,) = (one for one in found if one["name"] == name)
    assert all(len(row) == len(own["columns"]) for row in own["rows"])
    return {row[0]: row for row in own["rows"]}, own["columns"]


def test_the_main_table_has_the_mean_errors_and_their_differences(records):
    rows, columns = table(records, "errors")
    own = [
        r["metrics"]["error"] for r in records if (r["dataset"], r["method"]) == ("german_numeric", "cascade")
    ]
    row = dict(zip(columns, rows["german_numeric"]))
    mean = sum(own) / len(own)
    assert row["cascade, the paper's γ"].startswith(f"{mean:.4f} ± ")
    assert row["difference"] == f"{mean - float(row['published cascade']):+.4f}"


def test_a_set_without_records_is_missing_and_leaves_the_bars_open(records):
    fewer = [r for r in records if r["dataset"] == "german_numeric"]
    rows, columns = table(fewer, "errors")
    named = ("data set", "published SVM", "published cascade")
    expected = [name for name in columns if name not in named]
    assert [name for name, value in zip(columns, rows["splice"]) if value == "missing"] == expected
    bars = summarise(fewer, read_profile("cascades", fewer[0]["profile"]))["bars"]
    assert all(bar["met"] is not True for bar in bars)


def test_choices_name_every_method_of_a_measured_set(records):
    found = summarise(records, read_profile("cascades", records[0]["profile"]))["tables"][1]["rows"]
    assert {row[1] for row in found} == set(NAMES.values()) - {"SVM"}
