"""Model folders that `fit` wrote."""

import pandas as pd
import pytest

import surewood
from surewood import workflow


def test_a_folder_stands_for_the_model_in_it(folder, fitted):
    saved = workflow.open_model(folder)
    assert saved.path == fitted.files["model"]
    assert workflow.open_model(saved) is saved
    assert saved.facts["family"] == "mddf"
    assert saved.classes.tolist() == ["ja", "nein"]


def test_notes_about_a_later_table(folder, table):
    frame = pd.read_csv(table).assign(neu=1, Stadt="Atlantis")
    assert workflow.open_model(folder).notes_about(frame) == [
        "120 values are new in 'Stadt' and treated as missing; 1 column is new and not used ('neu').",
    ]


def test_a_model_from_elsewhere_is_refused(tmp_path):
    model = surewood.BinnedForestClassifier(2, random_state=0).fit([[0.0], [1.0]], [0, 1])
    surewood.save(model, tmp_path / "bare.surewood")
    with pytest.raises(
        workflow.WorkflowError, match=r"holds a BinnedForestClassifier that was not written by"
    ):
        workflow.open_model(tmp_path / "bare.surewood")
