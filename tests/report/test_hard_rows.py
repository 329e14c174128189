"""The hardest rows and typical ones."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from surewood.report.hard_rows import cell_text, hardest_rows, typical_positions
from surewood.report.predictions import Predictions

X, y = load_iris(return_X_y=True)
MODEL = GaussianNB().fit(X[::2], y[::2])
ROWS = Predictions(MODEL, X[1::2], y[1::2])


def test_the_hardest_rows_have_the_smallest_probability_of_the_truth():
    found = [row["probability_of_truth"] for row in hardest_rows(MODEL, ROWS)["rows"]]
    own = np.sort(MODEL.predict_proba(X[1::2])[np.arange(75), y[1::2]])
    np.testing.assert_allclose(found, own[: len(found)])


def test_important_columns_come_first():
    assert hardest_rows(MODEL, ROWS, ["x2", "x0"])["columns"] == ["x2", "x0", "x1", "x3"]


def test_typical_rows_are_correct_and_of_different_classes():
    at = typical_positions(ROWS)
    assert len(set(y[1::2][at])) == 3
    assert ROWS.right[at].all()


def test_cells_of_frames_arrays_and_lists():
    frame = pd.DataFrame({"a": [1.23456, None], "b": ["x", None]})
    assert [cell_text(frame, 0, 0), cell_text(frame, 1, 0), cell_text(frame, 0, 1)] == [
        "1.235",
        "missing",
        "x",
    ]
    assert cell_text([[1, 2]], 0, 1) == "2"
