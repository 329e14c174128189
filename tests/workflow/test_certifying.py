"""Certificates from tables."""

import pytest

from surewood import workflow
from tests.cli.command import messy_frame


def test_training_rows_give_no_guarantee(folder, table):
    found = workflow.certify(folder, table)
    assert found.seen > 0.7
    assert found.certificate.best is None
    assert any("the table is not a holdout" in note for note in found.notes)


def test_new_rows_give_one_and_several_models_weaken_it(folder, tmp_path):
    fresh = tmp_path / "fresh.csv"
    messy_frame(80, seed=5).to_csv(fresh, index=False)
    one, ten = (workflow.certify(folder, fresh, n_models=n) for n in (1, 10))
    assert one.seen == 0
    assert one.n_rows == 80
    assert one.certificate.best.value < ten.certificate.best.value


def test_another_column_is_refused(folder, table):
    with pytest.raises(workflow.WorkflowError, match=r"none of the model's classes \('ja', 'nein'\)"):
        workflow.certify(folder, table, target="Stadt")
