"""Rules that choose a cascade of a fold, on a small data set."""

import math

import pytest

from surewood.experiments.cascades.folds import prepare_fold
from surewood.experiments.cascades.rules import PathRule, paper_choice, plain_choice, run_fold


@pytest.fixture(scope="module")
def fold():
    return prepare_fold("wine", 1, degrees=(1, 2), fractions=(0.5,), max_leaves=2)


def test_the_plain_choice_is_one_svm_of_smallest_validation_error(fold):
    path = plain_choice(fold)
    assert path.n_leaves == 1
    errors = [fold.error(type(path)((k,), ()), fold.validation) for k in range(2)]
    assert fold.error(path, fold.validation) == min(errors)


def test_an_inactive_gamma_gives_a_single_leaf(fold):
    assert paper_choice(fold, (1.0,)).path.n_leaves == 1


def test_a_larger_margin_never_prefers_a_worse_plain_svm(fold):
    rule = PathRule(fold, 1e-3)
    careful, eager = rule.choose(1e9), rule.choose(0.0)
    assert careful.n_leaves == 1
    assert fold.error(eager, fold.validation) <= fold.error(careful, fold.validation)


def test_a_fold_has_an_error_for_every_rule(fold):
    row = run_fold(fold)
    for name in ("svm", "paper", "ours", "one_se", "best", "exactly_2"):
        assert math.isnan(row[name]) or 0 <= row[name] <= 1
