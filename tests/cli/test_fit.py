"""``surewood fit``: from a table to a model, and what it prints about the certificate."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

from surewood.bounds import Condition, issue_guarantee
from surewood.certify import Certificate, Method
from surewood.cli.printing import member_notes, members_text, print_certificate
from tests.cli.command import QUICK, messy_frame, run, write


def test_the_file_is_not_utf_8(messy):
    # The fixture's file must really be in the old encoding, or the test below shows nothing.
    _, path = messy
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")


def test_fit_writes_model_page_and_facts(fitted):
    model, facts = fitted
    assert sorted(path.name for path in model.iterdir()) == [
        "card.md",
        "model.surewood",
        "plan.toml",
        "report.html",
        "report.json",
    ]
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
    assert "column 'Kunden-Nr.' is not used: an identifier, with" in shown.stdout
    assert "column 'Land' is not used: it has one value only." in shown.stdout


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
        shown = run("fit", table, "--target", "treu?", *QUICK, "--force", folder=tmp_path)
        assert shown.returncode == 0, shown.stderr
    shown = run("fit", "wine", *QUICK, "--holdout", "0", folder=tmp_path)
    assert shown.returncode == 0
    assert "142" not in shown.stdout
    assert "No guarantee: hold out rows and certify the model on them." in shown.stdout


def test_auto_says_why_and_charges_for_it(tmp_path):
    frame = messy_frame(70)
    small = [word for name in ("n_estimators=5", "max_layers=1", "max_leaves=1") for word in ("--set", name)]
    shown = run(
        "fit",
        write(frame, tmp_path / "t.csv"),
        "--target",
        "treu?",
        "--model",
        "auto",
        *small,
        "--json",
        folder=tmp_path,
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


def test_by_default_all_families_are_combined(tmp_path):
    path = write(messy_frame(120), tmp_path / "t.csv")
    shown = run("fit", path, "--target", "treu?", "--set", "n_estimators=3", "--json", folder=tmp_path)
    facts = json.loads(shown.stdout)
    assert facts["family"] == "surewood"
    assert facts["choice"] is None
    page = (tmp_path / "surewood-t" / "report.html").read_text(encoding="utf-8")
    assert "composite forest" in page


@pytest.mark.parametrize(
    ("majority", "verdict"),
    [
        (
            0.35,
            "Not guaranteed to beat the majority-class baseline (35.0 %).",
        ),
        (
            0.5,
            "Guaranteed: error at most 35.56 % on new rows, with probability at least 95 %.",
        ),
    ],
)
def test_a_guarantee_that_beats_nothing_says_what_it_does_not_beat(majority, verdict):
    entry = issue_guarantee(
        Method.HOLDOUT,
        value=0.3556,
        sample="holdout",
        n=80,
        variant="exact",
        delta=0.05,
        conditions=(Condition("the points influenced nothing about the model", True),),
    )
    paper = Console(width=160, file=io.StringIO(), no_color=True, highlight=False)
    print_certificate(paper, Certificate((entry,), (), "M", 0.05, majority).to_dict())
    lines = [line.strip() for line in paper.file.getvalue().splitlines()]
    assert lines[1] == verdict
    assert lines[2].startswith("GUARANTEE  error at most 35.56 %")


MEMBERS = [
    {"title": title, "weight": weight, "seconds": seconds, "note": note}
    for title, weight, seconds, note in (
        ("random forest", 0.2, 1.0, ""),
        ("composite forest", 0.8, 2.0, "stopped after 2 s by the time limit"),
        ("extra trees", 0.0, 1.0, "dropped: it adds little to the others on held-out rows"),
        ("margin forest", 0.0, 0.0, "not started: no time was left"),
    )
]


def test_members_that_predict_are_named_with_their_weights():
    assert members_text(MEMBERS) == "composite forest 0.80, random forest 0.20"


def test_notes_tell_of_the_time_limit_and_not_of_members_that_add_nothing():
    assert member_notes(MEMBERS) == [
        "composite forest: stopped after 2 s by the time limit.",
        "margin forest: not started: no time was left.",
    ]
