"""What the command prints about a certificate."""

import io

import pytest
from rich.console import Console

from surewood.bounds import Condition, issue_guarantee
from surewood.certify import Certificate, Method
from surewood.cli.summary_text import print_certificate


@pytest.mark.parametrize(
    ("majority", "verdict"),
    [
        (
            0.35,
            "We cannot guarantee that this model beats the baseline (35.0 %).",
        ),
        (
            0.5,
            "Guaranteed error at most 35.56 % with probability at least 95 %, by holdout (Clopper-Pearson).",
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
