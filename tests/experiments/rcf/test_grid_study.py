"""One pass over the grid of all composite methods: every point is the forest fitted by itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from surewood.composite.growing import TreeRange
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.tree_fitting import fit_trees
from surewood.experiments.protocol import Profile
from surewood.experiments.rcf.division import divide, thinned_features
from surewood.experiments.rcf.grid_study import GridStudy, preferred
from surewood.experiments.rcf.rules import SELECTIONS, Rule

PROTOCOL = {
    "degrees": [1, 2, 4],
    "C": [0.1, 1.0, 10.0],
    "gammas": [1e-4, 1e-3, 1.0],
    "choose_C": "validation",
    "constant_leaves": False,
}
SIZES = {"trees": [3, 5], "depths": [1, 3], "every_r": 2}


def study(changes, seed=3, loader=load_wine):
    X, y = loader(return_X_y=True)
    parts = divide(len(y), 11)
    profile = Profile("toy", {**PROTOCOL, **changes}, SIZES)
    X, y = pd.DataFrame(X), pd.Series(y)
    return GridStudy(X, y, parts, profile, "wine", tuple(SELECTIONS), seed), parts


@pytest.mark.parametrize("changes", [{}, {"constant_leaves": True}, {"choose_C": "cv"}])
def test_every_point_equals_its_own_fit(changes):
    found, parts = study(changes)
    data, held = found._parts(parts.train, parts.evaluated)
    for f, r in enumerate(found.features):
        for d, depth in enumerate(found.axes.depths):
            for g, rule in enumerate(found.axes.rules):
                base = replace(found._base, max_features=r, max_depth=depth)
                trees = fit_trees(data, rule.setting(base), TreeRange(5, 3), SolverOptions()).trees
                alone = trees.composite_scores(held.matrix, held.design, "one_hot").argmax(axis=1)
                assert np.array_equal(found.outcomes[f].labels[d, g, 1], alone), (r, depth, rule)


def test_smaller_forests_are_prefixes_and_batches_do_not_matter(monkeypatch):
    whole, _ = study({})
    monkeypatch.setattr("surewood.experiments.rcf.walk.TREES_A_BATCH", 2)
    parts, _ = study({})
    for a, b in zip(whole.outcomes, parts.outcomes):
        assert np.array_equal(a.labels, b.labels)
        np.testing.assert_allclose(a.active, b.active)


def test_the_chosen_point_is_the_best_on_validation_and_refits():
    found, parts = study({})
    for method in SELECTIONS:
        point = found.choose(method)
        validation, test = found.errors(method)
        assert point.validation_error == validation.min() / len(parts.validation)
        assert point.test_error * len(parts.test) in test[validation == validation.min()]
    assert 0.0 <= found.refitted_error(found.choose("rcf")) < 0.2


def test_inert_gamma_gives_degree_one_and_no_active_leaf():
    found, _ = study({}, loader=load_iris)
    at = found.axes.rules.index(Rule("rcf", 1.0))
    for outcome in found.outcomes:
        assert (outcome.active[:, at] == 0).all()
        assert (outcome.degree[:, at] <= 1).all()


def test_ties_prefer_more_trees_then_shallow_simple_and_root_f():
    errors = np.ones((3, 2, 2, 2))
    errors[0, 1, 1, 1] = errors[2, 0, 1, 1] = errors[1, 0, 0, 0] = 0
    assert preferred(errors, [1, 4, 16], 16) == (2, 0, 1, 1)


@pytest.mark.parametrize("n", [150, 208, 528, 690, 846, 2007, 4177, 7494])
def test_divisions_have_the_published_sizes(n):
    parts = divide(n, 0)
    assert len(parts.test) == -(-n // 5)
    assert len(parts.train) == round(0.6 * n)
    everything = np.concatenate([parts.train, parts.validation, parts.test])
    assert np.array_equal(np.sort(everything), np.arange(n))


def test_every_second_r_keeps_the_root():
    assert thinned_features(180, 2) == (1, 13, 54, 180)
    assert thinned_features(16, 9) == (4,)
