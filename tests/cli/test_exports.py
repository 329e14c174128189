"""Exports of other programs through the commands: read right, or a sentence that helps."""

from __future__ import annotations

import io
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

import surewood
from surewood.cli import app
from surewood.cli.mistakes import explain_error
from surewood.tables import read_table
from tests.cli.exports import EXPORTS, customers

QUICK = ("--model", "mddf", "--set", "n_estimators=2", "--set", "max_layers=1", "--n-jobs", "1", "--no-page")


@pytest.fixture
def run(capsys):
    """The command in this process: forty tables through four commands are 160 of them."""

    def command(*words):
        try:
            app([str(word) for word in words], standalone_mode=False)
        except Exception as error:
            return explain_error(error), ""
        shown = capsys.readouterr()
        return shown.out, shown.err

    return command


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_export_is_read_right_or_a_sentence_says_what_to_type(run, tmp_path, export):
    table = customers()
    paths = export.write(table, tmp_path / "t")
    options = ["--target", export.target]
    fit = ("fit", *paths, *QUICK, "--out", tmp_path / "m", "--json")
    if export.sentence:
        (code, sentence), _ = run(*fit, *options)
        assert code == 2
        assert export.sentence in sentence
        typed = re.search(rf"{re.escape(export.fix)}( [\d,.]+)?(?= )", sentence)
        assert typed is not None, sentence
        options += shlex.split(typed[0])
    facts = json.loads(run(*fit, *options)[0])
    assert facts["rows"] + facts["holdout_rows"] == len(table)
    assert export.note in "\n".join(facts["notes"])
    assert len(facts["classes"]) in (2, 3)

    made = surewood.load(tmp_path / "m" / "model.surewood")[0]
    header_line = facts["reading"].get("header_line")
    frame = read_table(paths if len(paths) > 1 else paths[0], header_line=header_line)
    frame = frame.dropna(subset=[export.target])
    prepared = made.transform(frame)
    for name in export.numbers:
        read = np.sort(prepared[name].to_numpy(dtype=float))
        factor = 100 if made.plan_[name].percent else 1
        np.testing.assert_allclose(read, np.sort(factor * table[name].to_numpy()), atol=0.051, err_msg=name)

    later = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", *paths)[0]))
    assert set(later["prediction"].astype(str)) <= {str(label) for label in facts["classes"]}
    assert later["probability"].between(0.3, 1).all()
    assert ("Customer ID" in later) == export.identified
    assert "130 rows" in " ".join(run("certify", tmp_path / "m", *paths)[0].split())
    compared = run("compare", *paths, *options, "--only", "majority", "--folds", "2", "--json")[0]
    result = json.loads(compared)
    assert (result["rows"], result["columns"]) == (facts["rows"], facts["columns"])
