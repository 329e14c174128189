"""results.csv: records as a table and back, without losing a digit."""

import pandas as pd
import pytest

from surewood.experiments.errors import ExperimentError
from surewood.experiments.results_csv import read_csv, to_csv
from surewood.experiments.runner import run_paper
from tests.experiments.toy_paper import PROFILE, ToyPaper


@pytest.fixture
def outcome(tmp_path):
    return run_paper(ToyPaper(missing=["beta"]), PROFILE, tmp_path)


def test_the_csv_holds_all_that_a_summary_needs(outcome, tmp_path):
    table = tmp_path / "results.csv"
    table.write_text(to_csv(outcome.records), encoding="utf-8")
    again = read_csv(table)
    assert ToyPaper().summarise(again, PROFILE) == ToyPaper().summarise(outcome.records, PROFILE)
    assert again[0]["chosen"] == outcome.records[0]["chosen"]
    assert again[0]["seeds"] == outcome.records[0]["seeds"]
    assert again[0]["protocol"] == "paper"
    assert again[0]["versions"]["commit"] == outcome.records[0]["versions"]["commit"]


def test_tables_from_before_the_second_protocol_can_be_read(outcome, tmp_path):
    table = tmp_path / "results.csv"
    table.write_text(to_csv(outcome.records), encoding="utf-8")
    old = pd.read_csv(table, dtype=str, keep_default_na=False).drop(columns=["protocol", "commit"])
    old.to_csv(table, index=False)
    again = read_csv(table)
    assert {record["protocol"] for record in again} == {"paper"}
    assert set(again[0]["metrics"]) == {"error"}


def test_digits_missing_values_and_memory_survive(tmp_path):
    record = {"dataset": "a", "repeat": 3, "method": "m", "seconds": 1.23456, "profile": "quick"}
    full = {**record, "metrics": {"error": 0.1 + 0.2, "n_test": 7}, "peak_memory_bytes": 5 * 2**20}
    bare = {**record, "method": "n", "metrics": {"error": 1 / 3}}
    path = tmp_path / "results.csv"
    path.write_text(to_csv([full, bare]), encoding="utf-8")
    first, second = read_csv(path)
    assert first["metrics"] == {"error": 0.1 + 0.2, "n_test": 7}
    assert first["seconds"] == 1.235
    assert first["peak_memory_bytes"] == 5 * 2**20
    assert second["metrics"] == {"error": 1 / 3}
    assert second["peak_memory_bytes"] is None
    assert second["chosen"] == {}


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match=r"other\.csv is not a table of results"):
        read_csv(path)
