"""What the command prints about a certificate."""

import io

import pytest
from rich.console import Console

from surewood.bounds import Condition, issue_guarantee
from surewood.certify import Certificate, Method
from surewood.cli.summary_text import member_notes, members_text, print_certificate


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


MEMBERS = [
    {"name": "random forest", "weight": 0.2, "note": ""},
    {"name": "composite forest", "weight": 0.8, "note": "stopped after 2 s by the time limit"},
    {"name": "extra-trees", "weight": 0.0, "note": "dropped: it adds nothing to the others on held-out rows"},
    {"name": "margin forest", "weight": 0.0, "note": "not started: no time was left"},
]


def test_members_that_predict_are_named_with_their_weights():
    assert members_text(MEMBERS) == "composite forest 0.80, random forest 0.20"


def test_notes_tell_of_the_time_limit_and_not_of_members_that_add_nothing():
    assert member_notes(MEMBERS) == [
        "composite forest: stopped after 2 s by the time limit.",
        "margin forest: not started: no time was left.",
    ]
