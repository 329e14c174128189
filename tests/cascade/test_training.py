"""Training is a function of plan and sample."""

import numpy as np
import pytest

from surewood.cascade.training import plant, search, train
from tests.cascade.small_tasks import small_problem


def test_the_same_plan_and_sample_give_the_same_model():
    plan, sample = small_problem()
    first, second = train(plan, sample), train(plan, sample)
    parts = first.evaluate(sample.design)
    np.testing.assert_array_equal(parts[0].scores, second.evaluate(sample.design)[0].scores)
    np.testing.assert_array_equal(first.probabilities(parts), second.probabilities(parts))
    assert first.search[0].path == second.search[0].path
    assert (first.max_leaves, first.growth, first.gamma_scale) == (3, "capped", 1e-3)


def test_a_given_penalty_is_used_and_others_come_from_the_grid():
    plan, sample = small_problem(C=(0.5, 3.0))
    assert plant(plan, sample)[0].trainer.C.tolist() == [0.5, 3.0]
    plan, sample = small_problem(C="auto", study={"C_grid": (0.5, 3.0)})
    assert set(plant(plan, sample)[0].trainer.C) <= {0.5, 3.0}


def test_a_number_of_leaves_that_does_not_exist_is_an_error():
    plan, sample = small_problem([[0.0], [1.0]], [0, 1], n_leaves=3)
    with pytest.raises(ValueError, match="no cascade has exactly n_leaves=3 leaves"):
        search(plan, plant(plan, sample))
