"""Tables with a target, divided into training rows and a holdout."""

import numpy as np
import pandas as pd

from surewood.workflow.labelled_table import TrainingTable, read_for_training, read_labelled, read_rows


def test_row_numbers_lead_back_to_the_table(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": ["a", "b", None] * 20})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_for_training(TrainingTable(str(tmp_path / "t.csv"), "y", 0.25, 0))
    assert frame["x"][table.row_numbers - 2].tolist() == table.X["x"].tolist()
    assert (table.n_rows, table.n_holdout) == (30, 10)
    assert "20 rows of" in table.notes[0]


def test_the_same_seed_holds_out_the_same_rows():
    one, two = (read_for_training(TrainingTable("iris", None, 0.2, 3)) for _ in range(2))
    assert one.row_numbers.tolist() == two.row_numbers.tolist()
    other = read_for_training(TrainingTable("iris", None, 0.2, 4))
    assert one.row_numbers.tolist() != other.row_numbers.tolist()


def test_keeping_rows_keeps_their_numbers():
    table = read_labelled("iris", None)
    table.keep(np.array([5, 100]))
    assert table.row_numbers.tolist() == [6, 101]
    assert len(table.X) == table.n_rows == 2


def test_rows_without_a_target():
    assert read_rows("wine").frame.shape == (178, 13)
