import numpy as np

from surewood import DeepCascadeSVMClassifierCV
from surewood.cascade.cross_validation import select
from surewood.cascade.plan import plan_selection, read_settings
from tests.cascade.small_tasks import small_problem


def selection_of(**changes):
    _, sample = small_problem()
    settings = {"max_leaves": 2, "fractions": (0.3, 0.6), "degrees": (1, 2), "cv": 3, "C": 1.0}
    model = DeepCascadeSVMClassifierCV(**{**settings, **changes})
    return select(plan_selection(model, read_settings(model), sample, None, 0), sample), sample


def test_the_same_plan_gives_the_same_selection():
    (first, sample), (second, _) = selection_of(), selection_of()
    assert first.best == second.best
    np.testing.assert_array_equal(first.table["error"], second.table["error"])
    scores = [one.model.evaluate(sample.design)[0].scores for one in (first, second)]
    np.testing.assert_array_equal(*scores)


def test_infinitely_many_standard_errors_take_a_single_svm():
    selection, _ = selection_of(study={"standard_errors": np.inf})
    row = selection.table.loc[selection.best]
    assert row["kind"] == "plain"
    assert row["params"]["max_leaves"] == 1
    assert selection.model.gamma_scale is None
    assert selection.model.cascades[0].n_leaves == 1


def test_a_time_limit_of_zero_still_gives_a_model():
    selection, sample = selection_of(time_limit=0.0)
    assert selection.model.evaluate(sample.design)[0].scores.shape == sample.codes.shape
