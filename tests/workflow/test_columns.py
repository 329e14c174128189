"""What a user says about columns; columns that give the target away are found, and no others."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from papers.datasets import catalogue, load
from surewood import workflow
from surewood.datasets import BUNDLED
from surewood.tables import DataError
from surewood.workflow import ColumnOptions, check_table
from surewood.workflow.columns import names_of, read_plan_file
from tests.workflow.conftest import SMALL

TABLE = pd.DataFrame(
    {"id": ["a", "b", "c"], "code": [7, 8, 7], "when": ["3/1/2024", "4/2/2024", "9"], "x": [1, 2, 4]}
)


def test_what_is_said_overrules_what_is_found():
    options = ColumnOptions(identifiers=("id",), categorical=("code",), date=("when",), drop=("x",))
    plan = options.make_plan(TABLE)
    assert [column.kind for column in plan.columns] == ["drop", "category", "date", "drop"]
    assert plan.identifiers == ("id",)
    assert plan["when"].n_lost == 1


def test_options_change_a_given_plan():
    given = ColumnOptions().make_plan(TABLE)
    plan = ColumnOptions(plan=given, categorical=("x",), identifiers=("id",)).make_plan(TABLE)
    assert (plan["x"].kind, plan["x"].categories) == ("category", ("1", "2", "4"))
    assert plan["code"] == given["code"]
    assert plan.identifiers == ("id",)


def test_further_missing_codes():
    table = pd.DataFrame({"x": [1.0, 2.0, -9.0, 4.0], "c": ["a", "b", "zz", "b"]})
    plan = ColumnOptions(missing=("-9", "zz")).make_plan(table)
    assert plan["x"].n_missing == 1
    assert plan["c"].categories == ("a", "b")


def test_contradictions_and_unknown_names():
    with pytest.raises(DataError, match=r"^column 'x' is named twice \(drop= and date=\)\.$"):
        ColumnOptions(drop=("x",), date=("x",))
    with pytest.raises(DataError, match=r"^the table has no column 'y'\.$"):
        ColumnOptions(drop=("y",)).make_plan(TABLE)
    with pytest.raises(DataError, match=r"^decimal=; is not a decimal mark"):
        ColumnOptions(decimal=";")


def test_plan_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match=r"^there is no plan file .*none\.toml\.$"):
        read_plan_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("columns = 7")
    with pytest.raises(DataError, match=r"bad\.toml: the plan names no columns; write one with"):
        read_plan_file(tmp_path / "bad.toml")


def test_names_with_commas_or_repeated():
    assert names_of(["a, b", "c", "a"]) == ("a", "b", "c")


WIDE = ("har", "mnist", "usps")  # seconds each
TABLES = [
    *sorted(BUNDLED.keys() - catalogue()),
    *(
        pytest.param(name, marks=[pytest.mark.needs_data, *([pytest.mark.slow] if name in WIDE else [])])
        for name, entry in catalogue().items()
        if entry.sha256
    ),
]


def clean(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": np.round(rng.normal(3000, 800, n), 2),
            "age": rng.integers(18, 90, n),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n),
        }
    )
    y = np.where((frame["age"] > 50) ^ (rng.random(n) < 0.2), "yes", "no")
    return frame, y


def kinds(frame, y, **options):
    return {finding.column: finding.kind for finding in check_table(frame, y, **options)}


def test_a_clean_table_has_no_finding():
    frame, y = clean()
    assert check_table(frame, y) == []


def test_columns_equal_to_the_target():
    frame, y = clean()
    frame["a copy"], frame["code"] = y, np.where(y == "yes", 7, 3)
    assert kinds(frame, y) == {"a copy": "target", "code": "target"}
    first, second = check_table(frame, y)
    assert str(first) == "check column 'a copy': it equals the target; leave it out (drop='a copy')."
    assert "classes under other names" in second.evidence


def test_a_column_that_is_the_target_with_a_few_changes():
    frame, y = clean(2000)
    wrong = np.random.default_rng(1).random(2000) < 0.002
    frame["status"] = np.where((y == "yes") ^ wrong, 1.5, 0.5)
    assert kinds(frame, y) == {"status": "predicts alone"}
    [finding] = check_table(frame, y)
    assert "of 1,000 rows that were not used to learn from it" in finding.evidence
    assert finding.advice.endswith("leave it out (drop=status)")


def test_a_date_that_is_only_there_for_one_class():
    frame, y = clean(1000)
    frame["closed"] = np.where(y == "yes", "2024-03-01", None)
    frame.loc[frame.index[y == "yes"][::2], "closed"] = "2024-04-01"
    assert "closed" in kinds(frame, y)


def test_row_numbers_and_sorted_targets():
    frame, y = clean()
    frame["nr"] = np.arange(400) + 1
    assert kinds(frame, y) == {"nr": "row number"}
    order = np.argsort(y, kind="stable")
    frame = frame.iloc[order].reset_index(drop=True)
    frame["nr"] = np.arange(400)
    [finding] = check_table(frame, y[order])
    assert "the rows are sorted by the target" in finding.evidence


def test_row_numbers_of_a_part_of_the_file():
    frame, y = clean()
    frame["nr"] = np.arange(400)
    kept = np.sort(np.random.default_rng(0).permutation(400)[:300])
    assert kinds(frame.iloc[kept], y[kept], row_numbers=kept + 2) == {"nr": "row number"}


def test_identifiers():
    frame, y = clean()
    rng = np.random.default_rng(2)
    frame["member"] = rng.permutation(400) + 1000
    frame["customer_id"] = rng.choice(10**6, 400, replace=False)
    frame["token no."] = [f"t{k}" for k in rng.choice(10**6, 400, replace=False)]
    frame["salary"] = rng.choice(10**6, 400, replace=False)
    found = kinds(frame, y)
    assert found == dict.fromkeys(["member", "customer_id", "token no."], "identifier")


def test_dates_after_the_time_of_the_row():
    frame, y = clean()
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(400), unit="D")
    frame["signed"] = (day - pd.Timedelta(days=30)).strftime("%Y-%m-%d")
    frame["settled"] = (day + pd.Timedelta(days=30)).strftime("%Y-%m-%d")
    found = kinds(frame, y, time=day.to_numpy())
    assert found == {"settled": "later date"}


def test_few_rows_and_no_columns_say_nothing():
    frame, y = clean(15)
    assert check_table(frame.assign(copy=y), y) == []
    assert check_table(pd.DataFrame(index=range(50)), [0, 1] * 25) == []


def test_labels_must_match():
    frame, y = clean()
    with pytest.raises(ValueError, match=r"y must have one label per row \(400\), got 3"):
        check_table(frame, y[:3])


@pytest.mark.parametrize("name", TABLES)
def test_no_false_alarm_on_tables_we_know(name):
    table = load(name)
    assert check_table(*table.train) == []


def test_fit_shows_findings_as_notes_and_facts(tmp_path):
    frame, y = clean()
    frame.assign(verdict=np.where(y == "yes", "won", "lost"), y=y).to_csv(tmp_path / "t.csv", index=False)
    result = workflow.fit(
        tmp_path / "t.csv", "y", model="mddf", parameters=SMALL, n_jobs=1, out=tmp_path / "m"
    )
    assert any(note.startswith("check column 'verdict'") for note in result.notes)
    assert [finding["kind"] for finding in result.facts["findings"]] == ["target"]
    assert "verdict" in (tmp_path / "m" / "report.html").read_text().split("check column")[1][:20]


def test_a_column_that_ranks_the_rows_nearly_perfectly_is_suspicious():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    frame = pd.DataFrame({"score": y + rng.normal(0, 0.2, 800), "noise": rng.normal(size=800)})
    (finding,) = check_table(frame, y)
    assert (finding.column, finding.kind) == ("score", "predicts alone")
    assert re.search(r"and has an AUC of (0\.999\d|1\.0000)$", finding.evidence)
    assert check_table(frame.assign(score=y + rng.normal(0, 0.4, 800)), y) == []


def test_codes_for_missing_values_in_one_column():
    frame = pd.DataFrame({"age": [0.0, 30.0, 41.0] * 5, "calls": [0.0, 1.0, 2.0] * 5})
    made = ColumnOptions(missing=("age=0", "-999")).make_plan(frame)
    assert [made[name].missing for name in frame] == [("-999", "0"), ("-999",)]
    assert [made[name].n_missing for name in frame] == [5, 0]
