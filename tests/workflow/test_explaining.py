"""A model as a whole, one of its predictions, and the importances of its columns."""

from __future__ import annotations

import re

import pytest

from surewood import workflow
from tests.cli.command import messy_frame


def test_results_are_shown_in_ten_lines_at_most(folder, table, fitted):
    saved = workflow.open_model(folder)
    results = [
        fitted,
        saved,
        saved.pipeline,
        saved.preparer.plan_,
        workflow.explain(folder, table),
        workflow.predict(folder, table),
        workflow.importances(folder, table, n_repeats=1),
        workflow.certify_model(folder, table),
        workflow.compare(table, "treu?", only=["majority"], folds=2),
    ]
    lines = {type(one).__name__: repr(one).splitlines() for one in results}
    assert {name: len(shown) for name, shown in lines.items() if len(shown) > 10} == {}
    assert max(len(line) for shown in lines.values() for line in shown) < 300


def test_one_row(folder, table, fitted):
    found = workflow.explain(folder, table, row=4)
    assert (found.row, found.unit) == (4, "line")
    assert found.prediction in ("ja", "nein")
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert [step.title for step in found.steps][:2] == ["Because", "Votes"]
    assert found.details["layers"]
    with pytest.raises(
        workflow.WorkflowError, match=r"^there is no row on line 122 of .*; its 120 rows stand on lines 2"
    ):
        workflow.explain(folder, table, row=122)
    assert workflow.explain(folder, table).row == 2


def test_it_begins_with_columns_of_the_users_table(folder, table, fitted):
    found = workflow.explain(folder, table, row=4)
    because = found.details["because"]
    used = [column.name for column in workflow.open_model(folder).preparer.plan_.used]
    assert {one["column"] for one in because["columns"]} <= set(used)  # a date is one column, not its parts
    assert len(because["columns"]) + because["n_others"] == len(used)
    (date,) = (one for one in because["columns"] if one["column"] == "seit")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date["value"])
    first, *_, last = found.steps[0].lines
    assert re.match(r".* = .* +[+-]\d+\.\d( ± \d+\.\d)? points$", first)
    assert last.startswith(f"probability of {found.prediction}: ")


def test_models_that_keep_no_rows_are_compared_with_the_table(folder, table):
    saved = workflow.open_model(folder)
    saved.estimator.background_ = None
    because = workflow.explain(saved, table, row=4).details["because"]
    assert because["columns"]
    assert because["method"] == "sampled"


def test_the_whole_model(folder):
    about = workflow.describe(folder)
    assert about["kind"] == "margin deep forest (mddf)"
    assert about["trained on"].endswith("target 'treu?'")
    assert about["columns"] == "2 numeric, 1 categorical, 1 date; 3 not used"
    assert "cross-validated accuracy" in about
    assert about["cross-validated accuracy"].endswith("(ESTIMATE)")


def test_support_vectors_are_named_as_the_table_numbers_them(folder):
    saved = workflow.open_model(folder)
    assert saved.row_name(0) == f"line {saved.preparer.rows_.where.numbers[0]} of {saved.facts['table']}"
    assert saved.row_name(10_000) == "training row 10,001"


def test_a_row_of_several_files_is_named_by_file_and_line(folder, table, tmp_path):
    saved = workflow.open_model(folder)
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("".join(lines[:41]), encoding="utf-8")
    second.write_text("".join([lines[0], *lines[41:]]), encoding="utf-8")
    whole = workflow.explain(saved, table, row=46)
    for row in ("second.csv:6", f"{second}:6"):
        found = workflow.explain(saved, [first, second], row=row)
        assert (found.file, found.unit, found.row) == ("second.csv", "line", 6)
        assert found.probabilities == whole.probabilities
    assert "Line 6 of second.csv" in found._repr_html_()
    assert workflow.explain(saved, [first, second]).file == "first.csv"
    for row, words in (
        (46, r"^row=46: there are several files; write for example first.csv:46 \(first.csv, second.csv\)"),
        ("second.csv:1", "^there is no row on line 1 of second.csv; its 80 rows stand on lines 2 to 81"),
        ("six", "^row=six: write a number, or of several files for example june.csv:17"),
    ):
        with pytest.raises(workflow.WorkflowError, match=words):
            workflow.explain(saved, [first, second], row=row)
    with pytest.raises(workflow.WorkflowError, match=r"^row=first\.csv:2: there is one file"):
        workflow.explain(saved, first, row="first.csv:2")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    path = tmp_path_factory.mktemp("fresh") / "may.csv"
    messy_frame(200, seed=5).to_csv(path, index=False)
    return path


def test_columns_are_those_of_the_users_table(folder, fresh):
    found = workflow.importances(folder, fresh, n_repeats=3)
    assert sorted(found.importances.columns) == ["Einkommen €", "Stadt", "seit", "Âge"]
    assert found.n_rows == 200
    top = found.importances.frame()
    assert top["column"].iloc[0] != "Einkommen €"
    assert top["low"].iloc[0] > 0


def test_training_rows_are_left_out(folder, table, fitted):
    found = workflow.importances(folder, table, n_repeats=1)
    assert found.n_rows == fitted.facts["holdout_rows"]
    assert any("equal to training rows left out." in note for note in found.notes)


def test_few_new_rows_are_noted(folder, table, tmp_path):
    head = tmp_path / "head.csv"
    head.write_text(
        "".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[:25]), encoding="utf-8"
    )
    found = workflow.importances(folder, head, n_repeats=1)
    assert found.n_rows == 24
    assert any("look more important than they are for new rows." in note for note in found.notes)


def test_more_rows_are_sampled_and_mistakes_are_one_sentence(folder, fresh):
    assert workflow.importances(folder, fresh, n_repeats=1, max_rows=50).n_rows == 50
    with pytest.raises(
        workflow.WorkflowError, match=r"^metric must be one of log_loss, brier, error, got 'auc'\.$"
    ):
        workflow.importances(folder, fresh, metric="auc")
    with pytest.raises(workflow.WorkflowError, match="none of the model's classes"):
        workflow.importances(folder, fresh, target="Stadt")
