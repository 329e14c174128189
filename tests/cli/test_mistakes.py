"""What users get wrong: one sentence, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from surewood.cli.mistakes import PROGRAM, USER, as_options, explain_error
from surewood.tables import DataError
from surewood.workflow.errors import WorkflowError
from tests.cli.command import QUICK, mistake, write


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("holdout=0.001 of 20 rows", "--holdout 0.001 of 20 rows"),
        ("add out=NAME.parquet.", "add --out NAME.parquet."),
        ("(the default of cascade; max_rows= changes it)", "(the default of cascade; --max-rows changes it)"),
        ("sample of 10 of 20 rows (max_rows=).", "sample of 10 of 20 rows (--max-rows)."),
        ("parameters=depth: rcf has", "--set depth: rcf has"),
        ("the class: target=... (columns: a)", "the class: --target ... (columns: a)"),
        ("timeout=3 is not one", "timeout=3 is not one"),
    ],
)
def test_arguments_become_options(python, command):
    assert as_options(python) == command


def test_who_is_to_fix_it():
    assert explain_error(WorkflowError("n_jobs=0 is not possible."))[0] == USER
    assert explain_error(DataError("target=... is needed")) == (USER, "--target ... is needed")
    assert explain_error(KeyError("x"))[0] == PROGRAM


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    frame = pd.DataFrame({"size": np.arange(12.0), "colour": list("abcabcabcabc")})
    write(frame.assign(kind=["x", "y"] * 6), folder / "good.csv")
    write(frame.assign(kind="x"), folder / "one.csv")
    write(frame.assign(kind=["x"] * 11 + ["y"]), folder / "rare.csv")
    write(frame.assign(kind=np.linspace(0, 1, 12)), folder / "real.csv")
    write(pd.DataFrame({"id": [f"n{k:04}" for k in range(80)], "kind": ["x", "y"] * 40}), folder / "text.csv")
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")
    (folder / "empty.csv").write_text("")
    (folder / "twice.csv").write_text("a,a,kind\n1,2,x\n")
    (folder / "folder").mkdir()
    (folder / "file").write_text("")
    (folder / "notmodel.surewood").write_text("hello")
    return folder


#: A table that can be learned from, and its class.
GOOD = ("good.csv", "--target", "kind")

FIT = [
    (("nosuch.csv", "--target", "kind"), "there is no file nosuch.csv."),
    (("good.csv",), "say which column of good.csv is the class: --target ... (columns: size, colour, kind)."),
    (("good.csv", "--target", "Knid"), "good.csv has no column 'Knid'; did you mean 'kind'?"),
    (
        ("good.csv", "--target", "price"),
        "good.csv has no column 'price'; its columns are size, colour, kind.",
    ),
    (("one.csv", "--target", "kind"), "the target 'kind' has only one class, 'x'; nothing can be learned."),
    (
        ("rare.csv", "--target", "kind", "--rare", "hide"),
        "--rare hide is unknown; choose among drop, merge, keep.",
    ),
    (("https://host/t.csv", "--target", "kind"), "https://host/t.csv is an address; download the file first"),
    ((*GOOD, "--drop", "sice"), "the table has no column 'sice'."),
    ((*GOOD, "--drop", "size", "--numeric", "size"), "column 'size' is named twice (--drop and --numeric)."),
    ((*GOOD, "--class-weight", "z=2"), "--class-weight z: there is no such class; classes are"),
    ((*GOOD, "--weight", "colour"), "column 'colour' cannot be read as a number"),
    ((*GOOD, "--plan-file", "no.toml"), "there is no plan file no.toml."),
    (
        ("real.csv", "--target", "kind"),
        "the target 'kind' is a quantity (numbers with fractions such as",
    ),
    (
        ("text.csv", "--target", "kind"),
        "the table has no usable column besides the target ('id': an identifier, with 64 distinct texts in ",
    ),
    (("cut.parquet", "--target", "kind"), "cut.parquet is not a readable Parquet file, or is cut short"),
    (("empty.csv", "--target", "kind"), "empty.csv is empty."),
    (
        ("twice.csv", "--target", "kind"),
        "twice.csv has more than one column called 'a'; rename them, or give --header-line 2 if that line "
        "has the names.",
    ),
    (
        ("good", "--target", "kind"),
        "there is no file good; the name of a table ends in .csv, .parquet or the like.",
    ),
    (("folder", "--target", "kind"), "folder is a folder; name one file in it."),
    (("file", "--target", "kind"), "file has an unsupported extension; supported are .arrow, .csv,"),
    (
        ("wine", "--target", "kind"),
        "'wine' is a bundled data set, whose target is known; leave `target` out.",
    ),
    (
        (*GOOD, "--cluster", "scheduler"),
        "--cluster scheduler: the address of a Dask scheduler is tcp://host:port, or the name of its",
    ),
    (("wime",), "there is no data set called 'wime'; did you mean wine?"),
    ((*GOOD, "--out", "file"), "--out file is a file; name a folder."),
    (
        (*GOOD, "--model", "mddf", "--set", "n_estimator=3"),
        "--set n_estimator: mddf has no such parameter; did you mean n_estimators?",
    ),
    ((*GOOD, "--set", "n_estimators"), "--set takes name=value, got 'n_estimators'."),
]


@pytest.mark.parametrize(("arguments", "sentence"), FIT, ids=[" ".join(a) for a, _ in FIT])
def test_fit_refuses_with_a_sentence(folder, arguments, sentence):
    before = sorted(path.name for path in folder.iterdir())
    assert mistake("fit", *arguments, folder=folder).startswith(sentence)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_bad_value_is_the_estimator_s_own_sentence(folder):
    said = mistake("fit", *GOOD, *QUICK, "--set", "theta=3", folder=folder)
    assert "theta" in said


def test_models_that_are_none(folder):
    for command in ("predict", "certify"):
        said = mistake(command, "notmodel.surewood", "good.csv", folder=folder)
        assert said == "notmodel.surewood is not a surewood model, or is cut short."
    assert mistake("explain", "gone", folder=folder) == "there is no model file gone."


def test_options_that_would_do_nothing_are_refused(folder):
    assert mistake("explain", "gone", "--row", "3", folder=folder) == ("--row needs a table.")
    assert mistake("compare", *GOOD, "--n-jobs", "0", folder=folder) == (
        "--n-jobs 0 is not possible; -1 means all cores."
    )


def test_every_writing_command_looks_at_its_place_first(folder):
    assert mistake("predict", "gone", "good.csv", "-o", "file/x.csv", folder=folder).endswith(
        "file is a file, not a folder."
    )
    compare = ("compare", *GOOD, "--only", "rf", "--out", "file/x.html")
    assert mistake(*compare, folder=folder).endswith("file is a file, not a folder.")
