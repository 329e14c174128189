"""Importances of a saved model's columns: new rows, columns of the user's table, refusals."""

import pytest

from surewood import workflow
from tests.cli.command import messy_frame


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
