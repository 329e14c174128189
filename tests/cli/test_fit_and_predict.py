"""From a table to a model and back to predictions, as a user does it."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.command import QUICK, messy_frame, mistake, run, write


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """A messy CSV, as some spreadsheet wrote it, and a model fitted on it."""
    folder = tmp_path_factory.mktemp("messy")
    path = write(messy_frame(), folder / "Kunden.csv", sep=";", encoding="cp1252", decimal=",")
    return folder, path


@pytest.fixture(scope="module")
def fitted(messy):
    folder, path = messy
    shown = run("fit", path, "--target", "treu?", *QUICK, "--out", folder / "model", "--json")
    assert shown.returncode == 0, shown.stderr
    return folder / "model", json.loads(shown.stdout)


def test_the_file_is_not_utf_8(messy):
    # The fixture's file must really be in the old encoding, or the test below shows nothing.
    _, path = messy
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")


def test_fit_writes_model_page_and_facts(fitted):
    model, facts = fitted
    assert sorted(path.name for path in model.iterdir()) == ["model.surewood", "report.html", "report.json"]
    assert facts["target"] == "treu?"
    assert facts["classes"] == ["ja", "nein"]
    assert (facts["rows"], facts["holdout_rows"]) == (128, 32)
    assert set(facts["dropped_columns"]) == {"Kunden-Nr.", "Land", "leer"}
    assert facts["holdout"]["error"] < 0.4
    guarantee = next(e for e in facts["certificate"]["entries"] if e["status"] == "GUARANTEE")
    assert guarantee["sample"] == "holdout"
    assert guarantee["value"] > facts["holdout"]["error"]
    assert json.loads((model / "report.json").read_text(encoding="utf-8"))
    page = (model / "report.html").read_text(encoding="utf-8")
    assert "seit: year" in page


def test_a_pipe_gets_plain_quiet_text(messy):
    folder, path = messy
    shown = run("fit", path, "--target", "treu?", *QUICK, "--out", folder / "again")
    assert shown.returncode == 0
    assert shown.stderr == ""
    assert "\x1b" not in shown.stdout
    assert "GUARANTEE" in shown.stdout
    assert "column 'Kunden-Nr.' is not used: it is text with" in shown.stdout
    assert "column 'Land' is not used: it has one value only." in shown.stdout


def test_same_seed_same_model(messy, fitted):
    folder, path = messy
    model, _ = fitted
    run("fit", path, "--target", "treu?", *QUICK, "--out", folder / "twin")
    first = run("predict", model, path, "--proba").stdout
    assert first == run("predict", folder / "twin", path, "--proba").stdout


def test_predict_finds_columns_by_name(messy, fitted, tmp_path):
    _, path = messy
    model, _ = fitted
    expected = run("predict", model, path)
    assert expected.returncode == 0
    frame = messy_frame()
    changed = frame[frame.columns[::-1]].drop(columns=["treu?", "Land", "leer"]).assign(neu=1)
    shown = run("predict", model / "model.surewood", write(changed, tmp_path / "neu.csv"), "--proba")
    assert shown.returncode == 0
    assert shown.stderr == "surewood: 1 column not known from training, ignored: 'neu'.\n"
    table = pd.read_csv(write_text(tmp_path / "out.csv", shown.stdout))
    assert table.columns.tolist() == ["prediction", "probability of ja", "probability of nein"]
    assert table["prediction"].tolist() == expected.stdout.split()[1:]
    np.testing.assert_allclose(table.iloc[:, 1:].sum(axis=1), 1)


def write_text(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_predict_to_a_file_and_as_json(messy, fitted, tmp_path):
    _, path = messy
    model, _ = fitted
    out = tmp_path / "answers.parquet"
    shown = run("predict", model, path, "--proba", "-o", out)
    assert (shown.returncode, shown.stdout) == (0, "")
    assert shown.stderr == f"160 predictions written to {out}\n"
    assert pd.read_parquet(out).shape == (160, 3)
    answer = json.loads(run("predict", model, path, "--json", "--proba").stdout)
    assert answer["rows"] == 160
    assert set(answer["predictions"][0]["probabilities"]) == {"ja", "nein"}


def test_unseen_categories_are_missing_and_said(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20, seed=1).assign(Stadt="Atlantis")
    shown = run("predict", model, write(frame, tmp_path / "sea.csv"))
    assert shown.returncode == 0
    assert shown.stderr == (
        "surewood: 20 rows with a value of 'Stadt' not known from training; treated as missing.\n"
    )


def test_a_missing_column_is_refused_by_name(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20).drop(columns=["Stadt"]).rename(columns={"Âge": "Age"})
    said = mistake("predict", model, write(frame, tmp_path / "less.csv"))
    assert said == (
        "the table lacks the columns 'Âge', 'Stadt' that the model was trained with "
        "(is 'Age' the column 'Âge'?)."
    )


def test_text_where_numbers_were_is_refused_with_its_row(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20).astype({"Einkommen €": object})
    frame.loc[6, "Einkommen €"] = "viel"
    said = mistake("predict", model, write(frame, tmp_path / "text.csv"))
    assert said == "column 'Einkommen €' held numbers in training; row 7 now has 'viel'."


def test_numbers_where_text_was_are_the_same_categories(tmp_path):
    rng = np.random.default_rng(0)
    code = rng.choice(["1", "2", "x"], 120)
    frame = pd.DataFrame({"code": code, "noise": rng.normal(size=120), "y": np.where(code == "1", "a", "b")})
    assert (
        run("fit", write(frame, tmp_path / "t.csv"), "--target", "y", *QUICK, folder=tmp_path).returncode == 0
    )
    later = pd.DataFrame({"code": [1, 2, None], "noise": 0.0})
    shown = run("predict", "surewood-t", write(later, tmp_path / "later.csv"), folder=tmp_path)
    assert shown.stdout.split()[1:3] == ["a", "b"]
    assert shown.stderr == ""


def test_missing_labels_are_dropped_and_said(tmp_path):
    frame = (
        messy_frame(90).assign(label=lambda f: np.where(f["treu?"] == "ja", 1.0, 0.0)).drop(columns="treu?")
    )
    frame.loc[:3, "label"] = np.nan
    path = write(frame, tmp_path / "t.csv")
    facts = json.loads(run("fit", path, "--target", "label", *QUICK, "--json", folder=tmp_path).stdout)
    assert f"4 rows of {path} have no 'label' and were dropped." in facts["notes"]
    assert facts["classes"] == [0, 1]


def test_tab_separated_and_parquet_and_catalogue(tmp_path):
    frame = messy_frame(80)
    write(frame, tmp_path / "t.tsv", sep="\t", encoding="utf-8-sig")
    frame.to_parquet(tmp_path / "t.parquet")
    for table in ("t.tsv", "t.parquet"):
        shown = run("fit", table, "--target", "treu?", *QUICK, folder=tmp_path)
        assert shown.returncode == 0, shown.stderr
    shown = run("fit", "wine", *QUICK, "--holdout", "0", folder=tmp_path)
    assert shown.returncode == 0
    assert "142" not in shown.stdout
    assert "No guarantee could be given." in shown.stdout


def test_auto_says_why_and_charges_for_it(tmp_path):
    frame = messy_frame(70)
    small = [word for name in ("n_estimators=5", "max_layers=1", "max_leaves=1") for word in ("--set", name)]
    shown = run(
        "fit", write(frame, tmp_path / "t.csv"), "--target", "treu?", *small, "--json", folder=tmp_path
    )
    facts = json.loads(shown.stdout)
    choice = facts["choice"]
    assert [score["family"] for score in choice["scores"]] == ["rcf", "cascade", "mddf"]
    assert choice["chosen"] == facts["family"]
    assert choice["chosen"] in choice["why"]
    errors = {score["family"]: score["error"] for score in choice["scores"]}
    chosen = next(score for score in choice["scores"] if score["family"] == choice["chosen"])
    assert chosen["gap"] <= chosen["standard_error_of_gap"]
    assert errors[choice["chosen"]] >= min(errors.values())


@pytest.mark.parametrize("family", ["rcf", "cascade"])
def test_the_other_families_end_to_end(tmp_path, family):
    path = write(messy_frame(100), tmp_path / "t.csv")
    small = {"rcf": ["--set", "n_estimators=4"], "cascade": ["--set", "max_leaves=1"]}[family]
    shown = run("fit", path, "--target", "treu?", "--model", family, *small, "--n-jobs", "1", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    explained = run("explain", "surewood-t", path, "--row", "3", folder=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "Nearest support vectors" in explained.stdout
    assert "of t.csv" in explained.stdout or f"of {path}" in explained.stdout
    overview = run("explain", "surewood-t", folder=tmp_path)
    assert "degrees" in overview.stdout
    assert "Certificate" in overview.stdout
