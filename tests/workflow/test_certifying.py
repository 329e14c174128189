"""Certificates from tables."""

import numpy as np
import pandas as pd
import pytest

from surewood import workflow
from surewood.tables import content_hashes
from tests.cli.command import messy_frame
from tests.workflow.conftest import SMALL


def test_training_rows_are_not_counted(folder, table):
    found = workflow.certify(folder, table)
    assert found.seen == 0.8
    assert found.certificate.best.n == 24
    assert found.certificate.facts[0].startswith("Warning: 96 of 120 holdout rows (80 %) are copies")


def test_only_training_rows_give_no_guarantee(fitted, folder, table, tmp_path):
    frame = pd.read_csv(table).drop(fitted.holdout_rows)
    frame.to_csv(tmp_path / "training.csv", index=False)
    found = workflow.certify(folder, tmp_path / "training.csv")
    assert found.seen == 1.0
    assert found.certificate.best is None


def test_groups_of_the_training_rows_do_not_count(table, tmp_path):
    frame = pd.read_csv(table).assign(who=lambda rows: np.arange(len(rows)) % 24)
    frame.to_csv(tmp_path / "all.csv", index=False)
    result = workflow.fit(
        tmp_path / "all.csv",
        "treu?",
        model="mddf",
        groups="who",
        parameters=SMALL,
        n_jobs=1,
        out=tmp_path / "m",
    )
    assert result.certificate.guarantees[0].unit == "groups"
    frame.iloc[result.holdout_rows].to_csv(tmp_path / "held.csv", index=False)
    frame.drop(result.holdout_rows).to_csv(tmp_path / "training.csv", index=False)
    again = workflow.certify(tmp_path / "m", tmp_path / "all.csv")
    assert again.n_rows == len(result.holdout_rows)
    assert again.certificate.guarantees[0].n == result.certificate.guarantees[0].n
    assert any("rows of groups that the model was trained with" in note for note in again.notes)
    with pytest.raises(workflow.WorkflowError, match="every group was in the training rows"):
        workflow.certify(tmp_path / "m", tmp_path / "training.csv")
    frame.drop(columns="who").to_csv(tmp_path / "bare.csv", index=False)
    bare = workflow.certify(tmp_path / "m", tmp_path / "bare.csv")
    assert any("trained with groups=who, which this table lacks" in note for note in bare.notes)


def test_models_saved_before_estimators_had_a_memory_use_that_of_the_preparer(fitted, folder, table):
    saved = workflow.open_model(folder)
    prepared = saved.prepare(pd.read_csv(table))
    saved.preparer.row_keys_ = np.unique(content_hashes(prepared.drop(fitted.holdout_rows)))
    saved.estimator.remembered_rows_ = None
    assert workflow.certify(saved, table).certificate.best.n == 24


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
