import numpy as np
import pytest

from surewood.cascade.prefix_tree import Path
from surewood.cascade.search import Budget
from surewood.cascade.tasks import choose_C, class_columns, search_task
from tests.cascade.small_tasks import small_tasks


def test_a_search_reports_one_step_whatever_the_budget():
    for n_svms in (None, 40):
        _, _, (task,) = small_tasks()
        steps = []
        _, found = search_task(task, 1e-3, None, Budget(svms=n_svms), steps.append)
        assert found.path.n_leaves >= 1
        assert sum(steps) == pytest.approx(1.0)


def test_a_cascade_is_built_on_a_part():
    _, _, (task,) = small_tasks()
    part = np.arange(0, 90, 2, dtype=np.int32)
    built = task.build(Path((1,), ()), part)
    assert built.plus.sum() + built.minus.sum() == 45
    assert task.search_seconds > 0


def test_no_penalty_is_chosen_where_only_a_constant_can_be_learned():
    sample, plan, (task,) = small_tasks(np.zeros((6, 2)), [0, 0, 0, 0, 1, 1], C="auto")
    problem = plan.problems[0]
    chosen = choose_C(sample, task.trainer.gram, problem, plan.settings, plan.penalty_folds)
    assert chosen.tolist() == [1.0, 1.0]


def test_scores_per_class():
    decision = np.array([2.0, -1.0])
    np.testing.assert_array_equal(class_columns([decision], 2), [[-1.0, 1.0], [0.5, -0.5]])
    assert class_columns([decision], 1).tolist() == [[0.0], [0.0]]
    assert class_columns([decision] * 3, 3).shape == (2, 3)
    scores = np.zeros((2, 4))
    assert class_columns([scores], 4) is scores
