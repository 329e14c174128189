"""The rule by which a family is chosen."""

import numpy as np
import pandas as pd

from surewood.workflow.choosing import _apply_rule
from surewood.workflow.families import Family

CLASSES = np.array([0, 1])


def answers(name, wrong, confidence, n=400):
    """Probabilities of the true class 0: `wrong` rows are misclassified."""
    right = np.full(n, confidence)
    right[:wrong] = 1 - confidence
    return Family(name, name), np.column_stack([right, 1 - right]), 1.0


def test_a_clear_leader_wins():
    found = _apply_rule([answers("a", 5, 0.9), answers("b", 100, 0.9)], CLASSES, pd.Series([0] * 400), 3)
    assert found.family.name == "a"
    assert found.why == "a has the smallest out-of-fold error, by more than one standard error"
    assert found.to_dict()["scores"][1]["gap"] == 95 / 400


def test_among_tied_families_the_log_loss_decides():
    found = _apply_rule([answers("a", 20, 0.6), answers("b", 20, 0.9)], CLASSES, pd.Series([0] * 400), 3)
    assert found.family.name == "b"
    assert found.why.startswith("a and b are tied within one standard error; b has the small")
