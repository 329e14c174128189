import numpy as np

from surewood.cascade.held_out import OutOfFold, held_out_part, out_of_fold
from surewood.cascade.prefix_tree import Path
from tests.cascade.small_tasks import small_tasks


def test_rows_are_scored_by_cascades_that_did_not_see_them():
    sample, plan, (task,) = small_tasks()
    path = Path((1, 0), (1,))
    found = out_of_fold(sample, [task], [path], plan.calibration_folds)
    assert np.isfinite(found.scores).all()
    train, held_out = plan.calibration_folds[2]
    alone = task.build(path, train).evaluate(sample.design[held_out])
    np.testing.assert_array_equal(found.scores[held_out, 1], 0.5 * alone.scores)
    np.testing.assert_array_equal(found.leaf[held_out, 0], alone.leaf)
    np.testing.assert_array_equal(found.distance[held_out, 0], np.abs(alone.scores))


def test_the_error_is_weighted():
    scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    codes, weight = np.array([0, 1, 1], dtype=np.int32), np.array([1.0, 2.0, 1.0])
    assert OutOfFold(scores, np.zeros((3, 1)), np.zeros((3, 1)), codes, weight).error == 0.5


def test_a_held_out_part_is_scored_by_the_given_tasks():
    sample, _, (task,) = small_tasks()
    rows = np.arange(10, dtype=np.int32)
    found = held_out_part(sample, [task], [Path((0,), ())], rows)
    assert found.scores.shape == (10, 2)
    np.testing.assert_array_equal(found.codes, sample.codes[rows])
