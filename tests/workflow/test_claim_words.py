"""Claims in the words of the command line."""

import pandas as pd
import pytest

from surewood.workflow import WorkflowError, open_model
from surewood.workflow.claim_words import read_claim_words


def test_words_become_claims(folder):
    saved, frame = open_model(folder), pd.DataFrame({"Stadt": ["a", None]})
    words = ["error", "recall:ja", "balanced-accuracy", "error-by:Stadt", "cost"]
    claims = read_claim_words(words, "ja:nein=3", saved, frame)
    assert [claim.quantity for claim in claims] == [
        "error",
        "recall",
        "balanced_accuracy",
        "error_by",
        "cost",
    ]
    assert claims[4].cost.tolist() == [[0, 3], [1, 0]]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        (
            "recall:vielleicht",
            "claim=recall:vielleicht: .*does not know class 'vielleicht'; it knows ja, nein",
        ),
        ("error-by:Land?", "claim=error-by:Land\\?: the table has no column 'Land\\?'"),
        ("cost", "claim=cost needs cost="),
        ("luck", "claim=luck is unknown; choose among error, accuracy, balanced-accuracy, .*, error-by.$"),
    ],
)
def test_words_that_cannot_be_read(folder, word, sentence):
    with pytest.raises(WorkflowError, match=sentence):
        read_claim_words([word], None, open_model(folder), pd.DataFrame({"Stadt": ["a"]}))
