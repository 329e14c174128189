"""The best two of a comparison on held-out rows."""

import pytest

from surewood import workflow
from surewood.workflow.duel import best_two


def test_the_comparison_certifies_the_best_two():
    found = workflow.compare("wine", folds=2, only=["mddf", "rf"], n_jobs=1, certify=True)
    certificate = found.facts["certificate"]
    assert certificate["model"] == "mddf and rf"
    assert found.facts["rows"] == 178 - 35
    assert "35 rows were held out from the comparison for the guarantee." in found.notes
    assert certificate["entries"][0]["n"] <= 35


def test_two_are_needed():
    assert best_two({"a": (0.3, True), "b": (0.1, True)}) == ("b", "a")
    with pytest.raises(workflow.WorkflowError, match="certify=True needs at least two classifiers"):
        best_two({"a": (0.3, True)})
