"""``surewood certify``: guarantees from tables."""

from tests.cli.command import QUICK, messy_frame, mistake, run, write


def test_certify_notices_training_rows(tmp_path):
    path = write(messy_frame(90), tmp_path / "t.csv")
    assert run("fit", path, "--target", "treu?", *QUICK, folder=tmp_path).returncode == 0
    shown = run("certify", "surewood-t", path, folder=tmp_path)
    assert shown.returncode == 0
    assert "72 of 90 holdout rows (80 %) are copies of training rows; not counted" in shown.stdout
    fresh = write(messy_frame(60, seed=5), tmp_path / "fresh.csv")
    shown = run("certify", "surewood-t", fresh, folder=tmp_path)
    assert "GUARANTEE" in shown.stdout
    assert "copies of training rows; not counted" not in shown.stdout
    said = mistake("certify", "surewood-t", fresh, "--target", "Stadt", folder=tmp_path)
    assert said.startswith(
        f"{fresh}: the target 'Stadt' holds 'Málaga', 'Köln', 'Århus', none of the model's"
    )
    assert said.endswith("classes ('ja', 'nein'); is it the right column?")
    shown = run("predict", "surewood-t", fresh, "-o", "new/answers.csv", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "new" / "answers.csv").is_file()
    assert mistake("explain", "surewood-t", fresh, "--row", "62", folder=tmp_path) == (
        f"there is no row on line 62 of {fresh}; its 60 rows stand on lines 2 to 61."
    )
