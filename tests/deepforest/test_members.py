import re

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from surewood.deepforest.members import TreeSettings, has_contrast, only_forests, parse_members, tree_params


def test_kinds_pairs_and_classifiers():
    members = parse_members(["random", ("completely_random", 7), LogisticRegression()], 20)
    assert [(m.kind, m.n_trees) for m in members[:2]] == [("random", 20), ("completely_random", 7)]
    assert not members[2].is_forest


@pytest.mark.parametrize(
    ("forests", "error", "message"),
    [
        (
            ["forest"],
            ValueError,
            "forests[0] must be 'random', 'extra', 'completely_random', 'contrast', a pair",
        ),
        (
            ["random", ("extra", 0)],
            ValueError,
            "a pair of a kind of forest and a number of trees or a classifier",
        ),
        ([RidgeClassifier()], ValueError, "or a classifier with predict_proba, got RidgeClassifier()."),
        ([3], TypeError, "got 3."),
    ],
)
def test_what_is_not_a_forest_is_refused(forests, error, message):
    with pytest.raises(error, match=re.escape(message)):
        parse_members(forests, 10)


def test_how_trees_are_grown():
    random, extra, wild = parse_members(["random", "extra", "completely_random"], 5)
    settings = TreeSettings(max_features="sqrt", min_samples_leaf=3)
    params = [tree_params(m, settings, 100, 8, out_of_bag=False) for m in (random, extra, wild)]
    assert [p.splitter for p in params] == ["best", "random", "completely_random"]
    assert [p.sampling for p in params] == ["bootstrap", "all", "all"]
    assert [p.max_features for p in params] == [10, 10, 1]
    assert {p.max_depth for p in params} == {8}
    assert tree_params(wild, settings, 100, None, out_of_bag=True).sampling == "bootstrap"
    drawn = tree_params(random, TreeSettings(weighting="resample"), 100, None, out_of_bag=False)
    assert drawn.sampling == "resample"


def test_the_number_of_features_fits_every_layer():
    (member,) = parse_members(["random"], 5)
    tried = [
        tree_params(member, TreeSettings(max_features=f), 50, None, out_of_bag=False).max_features
        for f in (None, "sqrt", "log2", 200, 0.5, 0.001)
    ]
    assert tried == [50, 7, 5, 50, 25, 1]


def test_what_a_block_is_made_of():
    forests, contrast = parse_members(["random", "extra"], 2), parse_members(["contrast", "extra"], 2)
    assert only_forests(forests)
    assert not only_forests(contrast)
    assert has_contrast(contrast)
    assert not has_contrast(parse_members([LogisticRegression()], 2))


def test_trees_see_at_most_so_many_rows():
    random, extra = parse_members(["random", "extra"], 5)
    few = TreeSettings(most_rows=100)
    for member, sampling in ((random, "bootstrap"), (extra, "subsample")):
        limited = tree_params(member, few, 10, None, out_of_bag=False, n_rows=400)
        assert (limited.sampling, limited.n_draws) == (sampling, 0.25)
        free = tree_params(member, TreeSettings(), 10, None, out_of_bag=False, n_rows=400)
        assert tree_params(member, few, 10, None, out_of_bag=False, n_rows=100) == free
        assert free.n_draws is None
