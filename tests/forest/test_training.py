"""From a plan to a forest: a warm start goes on where the first fit stopped."""

import numpy as np
from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier
from surewood.forest.plan import make_plan
from surewood.forest.training import Beginning, train
from surewood.tables import begin_fit

X, Y = load_iris(return_X_y=True)


def fitted(n_trees, beginning=None, **parameters):
    forest = BinnedForestClassifier(n_trees, **parameters)
    with begin_fit(forest, X, Y) as inputs:
        plan = make_plan(forest, inputs)
        return train(plan, inputs, beginning or Beginning.anew(plan, inputs, 7)).model


def test_training_is_a_function_of_plan_data_and_seed():
    one, two = fitted(6), fitted(6, n_jobs=2)
    for own, other in zip(one.trees.arrays, two.trees.arrays):
        np.testing.assert_array_equal(own, other)
    assert one.calibrator is None
    assert one.out_of_bag is None


def test_going_on_gives_the_longer_forest():
    short = fitted(4)
    long = fitted(9, Beginning.after(short))
    whole = fitted(9)
    for own, other in zip(long.trees.arrays, whole.trees.arrays):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_allclose(long.importances, whole.importances)


def test_votes_are_for_the_rows_of_the_user():
    model = fitted(10, oob_score=True)
    assert model.out_of_bag.votes.shape == (150, 3)
    known = ~np.isnan(model.out_of_bag.votes[:, 0])
    right = model.out_of_bag.votes[known].argmax(axis=1) == Y[known]
    assert model.out_of_bag.accuracy == right.mean()
