"""[D-36]: no row changes sides because of its label."""

import numpy as np

from tests.promises.tables import fit, frame, write


def _held_out(path, **options):
    return fit(path, **options).holdout_rows.tolist()


def test_the_same_rows_are_held_out_whatever_the_labels(tmp_path):
    rows = frame(120, 0)
    first = _held_out(write(rows, tmp_path / "first.csv"))
    rare = rows.assign(y=np.where(np.isin(np.arange(120), first[:3]), "rare", rows["y"]))
    result = fit(write(rare, tmp_path / "rare.csv"))
    assert result.holdout_rows.tolist() == first
    assert any("'rare'" in note and "training" in note for note in result.notes)
    assert result.certificate.guarantees[0].n == 24
    assert result.error >= 3 / 24  # a class that training never saw counts as an error


def test_a_class_without_a_holdout_row_is_noted(tmp_path):
    rows = frame(120, 0)
    held = _held_out(write(rows, tmp_path / "first.csv"))
    kept = [k for k in range(120) if k not in held][:4]
    rare = rows.assign(y=np.where(np.isin(np.arange(120), kept), "rare", rows["y"]))
    result = fit(write(rare, tmp_path / "rare.csv"))
    assert any("'rare'" in note and "holdout" in note for note in result.notes)
    assert result.certificate.guarantees[0].n == 24
