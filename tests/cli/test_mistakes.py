"""Exit codes and sentences of errors."""

import pytest

from surewood.cli.mistakes import PROGRAM, USER, as_options, explain_error
from surewood.tables import DataError
from surewood.workflow.errors import WorkflowError


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
