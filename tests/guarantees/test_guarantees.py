"""Every GUARANTEE against a known true risk: 2,500 draws in `make guarantees`, 120 in each test run."""

import pytest

from surewood.certify import Method
from tests.guarantees.harness import alarms
from tests.guarantees.simulate_after_holdout import (
    simulate_cross_fitted,
    simulate_cross_fitting,
    simulate_monitor,
    simulate_sets,
    simulate_thresholds,
)
from tests.guarantees.simulate_certify import (
    simulate_claims,
    simulate_discrete_rows,
    simulate_equal_rows,
    simulate_groups,
    simulate_kinds_of_tables,
    simulate_repeated_rows,
    simulate_rules_of_equal_rows,
    simulate_sizes_of_groups,
    simulate_stratified,
    simulate_training_rows,
    simulate_unknown_classes,
)
from tests.guarantees.simulate_claims_in_use import (
    simulate_found_thresholds,
    simulate_monitors,
    simulate_prediction_sets,
    simulate_two_models,
    simulate_watched_batches,
)
from tests.guarantees.simulate_compression import simulate_svm
from tests.guarantees.simulate_holdout import simulate_holdout, simulate_selection
from tests.guarantees.simulate_one_row import simulate_one_row
from tests.guarantees.simulate_papers import (
    simulate_cascade,
    simulate_composite,
    simulate_native_cascade,
    simulate_real_cascade,
    simulate_real_composite,
)
from tests.guarantees.simulate_rates import simulate_page, simulate_rates, simulate_reject_option
from tests.guarantees.simulate_scored_claims import (
    simulate_betting,
    simulate_calibration,
    simulate_scored_claims,
)
from tests.guarantees.simulate_votes import (
    simulate_certifiable_composite,
    simulate_certifiable_forest,
    simulate_stumps,
    simulate_tables,
)
from tests.guarantees.simulate_workflow import (
    simulate_copied_tables,
    simulate_grouped_tables,
    simulate_one_row_of_predict,
    simulate_ordinary_tables,
    simulate_rare_classes,
    simulate_sets_of_predict,
    simulate_weighted_tables,
    simulate_zero_weights,
)

SIMULATIONS = [
    simulate_holdout,
    simulate_selection,
    simulate_stumps,
    simulate_tables,
    simulate_certifiable_forest,
    simulate_certifiable_composite,
    simulate_svm,
    simulate_composite,
    simulate_cascade,
    simulate_native_cascade,
    simulate_real_cascade,
    simulate_real_composite,
    simulate_training_rows,
    simulate_equal_rows,
    simulate_kinds_of_tables,
    simulate_rules_of_equal_rows,
    simulate_sizes_of_groups,
    simulate_unknown_classes,
    simulate_stratified,
    simulate_groups,
    simulate_claims,
    simulate_repeated_rows,
    simulate_discrete_rows,
    simulate_thresholds,
    simulate_sets,
    simulate_monitor,
    simulate_cross_fitting,
    simulate_cross_fitted,
    simulate_found_thresholds,
    simulate_prediction_sets,
    simulate_monitors,
    simulate_two_models,
    simulate_watched_batches,
    simulate_one_row,
    simulate_rates,
    simulate_page,
    simulate_reject_option,
    simulate_scored_claims,
    simulate_calibration,
    simulate_betting,
]
FITS = [
    simulate_copied_tables,
    simulate_ordinary_tables,
    simulate_grouped_tables,
    simulate_weighted_tables,
    simulate_zero_weights,
    simulate_rare_classes,
    simulate_sets_of_predict,
    simulate_one_row_of_predict,
]  # in each draw a table is written, read, divided, fitted and certified
DRAWS = 2500
FIT_DRAWS = 2000


def _checked(simulate, draws):
    """Trials in which no bound fails too often and every broken twin does."""
    trials = simulate(draws)
    assert all(values.size == draws for values in trials.bounds.values())
    assert alarms(trials) == {}
    assert set(alarms(trials, "broken")) == set(trials.broken)
    return trials


@pytest.mark.slow
@pytest.mark.parametrize("simulate", SIMULATIONS)
def test_violations_do_not_exceed_delta_and_broken_twins_are_caught(simulate):
    trials = _checked(simulate, DRAWS)
    silent = [name for name, values in trials.bounds.items() if (values < 1).mean() < 0.5]
    assert silent == [], "a bound that is always 1 tests nothing"


@pytest.mark.parametrize("simulate", SIMULATIONS)
def test_quick_slice(simulate):
    trials = simulate(120)
    assert alarms(trials) == {}
    assert set(alarms(trials, "broken")) == set(trials.broken)


def test_every_method_that_may_promise_is_simulated():
    simulated = set().union(*(simulate(2).bounds for simulate in SIMULATIONS))
    assert set(Method) <= simulated


@pytest.mark.slow
@pytest.mark.parametrize("simulate", FITS)
def test_fits_of_generated_tables_keep_delta_and_broken_twins_are_caught(simulate):
    trials = _checked(simulate, FIT_DRAWS)
    assert (trials.bounds[next(iter(trials.bounds))] < 1).mean() > 0.5


@pytest.mark.parametrize("simulate", FITS)
def test_quick_slice_of_fits(simulate):
    trials = simulate(12)
    assert alarms(trials) == {}
