"""Structure of the data: with time the holdout is the last part, and the statement is an ESTIMATE."""

import numpy as np
import pandas as pd

from tests.promises.tables import fit, frame, write


def test_the_last_part_is_held_out_and_nothing_is_guaranteed(tmp_path):
    rows = frame(200, 0)
    rows["day"] = pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d")
    shuffled = rows.sample(frac=1.0, random_state=3).reset_index(drop=True)
    result = fit(write(shuffled, tmp_path / "time.csv"), time="day")
    held = result.holdout_rows.tolist()
    assert shuffled["day"].iloc[held].min() > shuffled["day"].drop(held).max()
    assert result.certificate.guarantees == ()
    [measured] = [entry for entry in result.certificate.entries if entry.sample == "holdout"]
    assert str(measured.status) == "ESTIMATE"
    assert any("the future may differ" in entry.reason for entry in result.certificate.withheld)
    assert "day" not in result.model[0].columns_


def test_rows_of_one_moment_are_on_one_side(tmp_path):
    rows = frame(200, 1).assign(month=np.repeat(np.arange(10), 20))
    result = fit(write(rows, tmp_path / "time.csv"), time="month", holdout=0.25)
    held = np.isin(np.arange(200), result.holdout_rows.tolist())
    assert set(rows["month"][held]) == {7, 8, 9} or set(rows["month"][held]) == {8, 9}
    assert not set(rows["month"][held]) & set(rows["month"][~held])
