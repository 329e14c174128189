"""Small messy tables, as people have them: each gets the plan that expected.toml says, or its sentence."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.cli.mistakes import explain_error
from surewood.tables import DataError
from surewood.tables.planning.column_plan import read_column
from surewood.workflow.columns import ColumnOptions
from surewood.workflow.labelled_table import read_labelled

HERE = Path(__file__).parent
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text(encoding="utf-8"))
GOOD = [name for name, wanted in EXPECTED.items() if "error" not in wanted]
BAD = [name for name, wanted in EXPECTED.items() if "error" in wanted]
TINY = {"n_estimators": 2, "max_layers": 1, "cv": 2}


def options_of(wanted):
    given = wanted.get("options", {})
    return ColumnOptions(**{k: v if isinstance(v, str) else tuple(v) for k, v in given.items()})


def planned(name):
    table = read_labelled(str(HERE / "files" / name), "label")
    return table, options_of(EXPECTED[name]).make_plan(table.rows.X)


def test_every_file_has_its_plan_and_there_are_many():
    assert sorted(EXPECTED) == sorted(path.name for path in (HERE / "files").iterdir())
    assert len(EXPECTED) >= 60


@pytest.mark.parametrize("name", GOOD)
def test_a_file_gets_the_plan_it_must_get(name):
    wanted = EXPECTED[name]
    table, plan = planned(name)
    columns = dict(wanted.get("columns", {}))
    if wanted.get("size", True):
        columns.setdefault("size", {"kind": "number"})
    assert {column.name: column.kind for column in plan.columns} == {
        column: found["kind"] for column, found in columns.items()
    } | beside(name)
    for column, facts in columns.items():
        check_column(plan[column], table.rows.X[column], facts)


def beside(name):
    """Columns of a file of another format that its entry does not repeat."""
    formats = ("blank_lines", "sep_line", "line_breaks", "table")
    city = {"city": "category"} if name.startswith(formats) else {}
    return city | ({"price": "number"} if name.startswith(("latin1", "line_breaks", "inch_mark")) else {})


def check_column(plan, column, facts):
    for fact, value in facts.items():
        if fact in ("first", "second"):
            found = read_column(plan, column).iloc[0 if fact == "first" else 1]
            assert found == (pd.Timestamp(value) if plan.kind == "date" else value)
        else:
            found = getattr(plan, fact)
            assert (list(found) if isinstance(found, tuple) else found) == value, fact


@pytest.mark.parametrize("name", [name for name in GOOD if "lines" in EXPECTED[name]])
def test_rows_are_numbered_as_the_file_numbers_them(name):
    table, _ = planned(name)
    assert table.where.numbers[:2].tolist() == EXPECTED[name]["lines"]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence_and_exit_code_2(name):
    path = str(HERE / "files" / name)
    with pytest.raises(DataError) as refused:
        workflow.plan_table(path, "label")
    assert str(refused.value) == EXPECTED[name]["error"].replace("FILE", path)
    assert explain_error(refused.value)[0] == 2


@pytest.mark.parametrize("name", GOOD)
def test_the_first_command_of_the_readme_works(name, tmp_path):
    wanted, path = EXPECTED[name], str(HERE / "files" / name)
    fitted = workflow.fit(
        path,
        "label",
        model="mddf",
        parameters=TINY,
        n_jobs=1,
        columns=options_of(wanted),
        out=tmp_path,
    )
    labels = set(wanted.get("labels", ["big", "small"])) - {"huge"}
    assert set(fitted.facts["classes"]) == labels
    assert fitted.facts["rows"] + fitted.facts["holdout_rows"] == wanted.get("rows", 30) - ("rare" in name)
    if "note" in wanted:
        assert wanted["note"].replace("FILE", path) in fitted.notes
    again = workflow.predict(tmp_path, path, proba=True)
    assert again.n_rows == (60 if wanted.get("rows") == 60 else 30)
    assert json.loads((tmp_path / "report.json").read_text())["data"]["n_columns"] == fitted.facts["columns"]


SPOILED = (
    "utf16",
    "latin1",
    "blank_lines",
    "sep_line",
    "semicolons",
    "inch_mark",
    "carriage",
    "german_whole",
    "typographic",
)
READERS = [name for name in GOOD if name.endswith((".csv", ".tsv")) and not name.startswith(SPOILED)]


@pytest.mark.parametrize("name", READERS)
def test_every_reader_gives_the_same_answer(name, tmp_path):
    """A saved model treats frames of pandas, of polars and of our reader as it treated its training rows."""
    polars = pytest.importorskip("polars")
    import surewood

    wanted, path = EXPECTED[name], HERE / "files" / name
    fitted = workflow.fit(
        path, "label", model="mddf", parameters=TINY, n_jobs=1, columns=options_of(wanted), out=tmp_path
    )
    pipeline = surewood.load(fitted.files["model"])
    ours = pipeline.predict_proba(surewood.tables.read_table(path))
    german = name.startswith(("german.", "french", "euros"))
    sep = "\t" if name.endswith(".tsv") else ";" if german else ","
    pandas_frame = pd.read_csv(path, sep=sep)
    np.testing.assert_array_equal(pipeline.predict_proba(pandas_frame), ours)
    np.testing.assert_array_equal(pipeline.predict_proba(pd.read_csv(path, sep=sep, dtype=str)), ours)
    polars_frame = polars.read_csv(path, separator=sep, infer_schema_length=None)
    np.testing.assert_array_equal(pipeline.predict_proba(polars_frame), ours)


def test_a_reader_that_spoils_numbers_is_refused(tmp_path):
    path = HERE / "files" / "german_whole.csv"
    fitted = workflow.fit(path, "label", model="mddf", parameters=TINY, n_jobs=1)
    with pytest.raises(DataError, match="column 'preis' has a point between thousands in training"):
        fitted.model.predict(pd.read_csv(path, sep=";"))
    read_well = pd.read_csv(path, sep=";", decimal=",", thousands=".")
    raw = pd.read_csv(path, sep=";", dtype=str)
    assert fitted.model.predict(read_well).tolist() == fitted.model.predict(raw).tolist()
