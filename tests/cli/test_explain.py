"""``surewood explain``: models and predictions in words."""

import pytest

from tests.cli.command import messy_frame, run, write


@pytest.mark.parametrize("family", ["rcf", "cascade"])
def test_the_other_families_end_to_end(tmp_path, family):
    path = write(messy_frame(100), tmp_path / "t.csv")
    small = {"rcf": ["--set", "n_estimators=4"], "cascade": ["--set", "max_leaves=1"]}[family]
    shown = run("fit", path, "--target", "treu?", "--model", family, *small, "--n-jobs", "1", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    explained = run("explain", "surewood-t", path, "--row", "3", folder=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "Nearest support vectors" in explained.stdout
    assert (
        explained.stdout.index("Prediction:")
        < explained.stdout.index("Because")
        < explained.stdout.index("Nearest")
    )
    assert " points" in explained.stdout
    assert "of t.csv" in explained.stdout or f"of {path}" in explained.stdout
    overview = run("explain", "surewood-t", folder=tmp_path)
    assert "degrees" in overview.stdout
    assert "Certificate" in overview.stdout
