"""The cross-fitted bound against its formula."""

import math

import pytest

from surewood.bounds import binary_kl, cross_fit_bound, pac_bayes_bound


def test_inverts_the_stated_inequality():
    limit = cross_fit_bound(0.1, 400, delta=0.02)
    assert binary_kl(0.1, limit) == pytest.approx(math.log(2 * math.sqrt(400) / 0.02) / 400)


def test_the_zero_one_loss_costs_a_factor_two():
    assert cross_fit_bound(0.1, 400, convex=False) == pytest.approx(pac_bayes_bound(0.1, 400))
    assert cross_fit_bound(0.6, 400, convex=False) == 1.0
    assert cross_fit_bound(0.1, 400, n_models=4) == cross_fit_bound(0.1, 400, delta=0.0125)


def test_folds_of_fewer_than_eight_rows_are_refused():
    with pytest.raises(ValueError, match="fold_size must be an integer >= 8, got 7"):
        cross_fit_bound(0.1, 7)
