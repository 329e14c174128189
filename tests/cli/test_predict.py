"""``surewood predict``: from a model to predictions."""

import json

import numpy as np
import pandas as pd

from tests.cli.command import QUICK, messy_frame, mistake, run, write


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
    assert shown.stderr == "surewood: 1 column is new and not used ('neu').\n"
    table = pd.read_csv(write_text(tmp_path / "out.csv", shown.stdout))
    answers = ["prediction", "probability", "probability of ja", "probability of nein"]
    assert table.columns.tolist() == ["line", "Kunden-Nr.", *answers]
    assert table["prediction"].tolist() == [line.split(",")[2] for line in expected.stdout.split()[1:]]
    np.testing.assert_allclose(table.iloc[:, 4:].sum(axis=1), 1, atol=2e-6)
    assert (table["Kunden-Nr."] == frame["Kunden-Nr."]).all()


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
    found = pd.read_parquet(out)
    assert list(found) == ["line", "Kunden-Nr.", "prediction", "probability", *found.columns[-2:]]
    np.testing.assert_allclose(found["probability"], found.iloc[:, -2:].max(axis=1))
    answer = json.loads(run("predict", model, path, "--json", "--proba").stdout)
    assert answer["rows"] == 160
    assert set(answer["predictions"][0]["probabilities"]) == {"ja", "nein"}


def test_unseen_categories_are_missing_and_said(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20, seed=1).assign(Stadt="Atlantis")
    shown = run("predict", model, write(frame, tmp_path / "sea.csv"))
    assert shown.returncode == 0
    assert shown.stderr == ("surewood: 20 values are new in 'Stadt' and treated as missing.\n")


def test_a_missing_column_is_refused_by_name(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20).drop(columns=["Stadt"]).rename(columns={"Âge": "Age"})
    said = mistake("predict", model, write(frame, tmp_path / "less.csv"))
    assert said == (
        "the table lacks the columns 'Âge', 'Stadt' that the model was trained with "
        "(is 'Age' the column 'Âge'?)."
    )


def test_text_where_numbers_were_is_missing_with_a_note(fitted, tmp_path):
    model, _ = fitted
    frame = messy_frame(20).astype({"Einkommen €": object})
    frame.loc[6, "Einkommen €"] = "viel"
    shown = run("predict", model, write(frame, tmp_path / "text.csv"))
    assert shown.returncode == 0
    assert "1 value is not readable as in training in 'Einkommen €' and treated as missing." in shown.stderr
    frame["Einkommen €"] = "viel"
    said = mistake("predict", model, write(frame, tmp_path / "text.csv"))
    assert said == "column 'Einkommen €' held numbers in training; now it has 'viel' and the like."


def test_numbers_where_text_was_are_the_same_categories(tmp_path):
    rng = np.random.default_rng(0)
    code = rng.choice(["1", "2", "x"], 120)
    frame = pd.DataFrame({"code": code, "noise": rng.normal(size=120), "y": np.where(code == "1", "a", "b")})
    assert (
        run("fit", write(frame, tmp_path / "t.csv"), "--target", "y", *QUICK, folder=tmp_path).returncode == 0
    )
    later = pd.DataFrame({"code": [1, 2, None], "noise": 0.0})
    shown = run("predict", "surewood-t", write(later, tmp_path / "later.csv"), folder=tmp_path)
    assert [line[:3] for line in shown.stdout.split()[1:3]] == ["2,a", "3,b"]
    assert shown.stderr == ""
