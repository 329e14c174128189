import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from surewood.deepforest.members import TreeSettings, features_tried, parse_members, tree_params


def test_kinds_pairs_and_classifiers():
    members = parse_members(["random", ("completely_random", 7), LogisticRegression()], 20)
    assert [(m.kind, m.n_trees) for m in members[:2]] == [("random", 20), ("completely_random", 7)]
    assert not members[2].is_forest


@pytest.mark.parametrize(
    ("forests", "message"),
    [
        ("random", "forests must be a list with at least one forest, got 'random'"),
        ([], "at least one forest"),
        (["forest"], r"forests\[0\] is 'forest'; expected 'random', 'extra', 'completely_random'"),
        (["random", ("extra", 0)], r"forests\[1\]: the number of trees must be a positive integer, got 0"),
        ([RidgeClassifier()], r"forests\[0\], RidgeClassifier, has no predict_proba; wrap it in Calibrated"),
    ],
)
def test_what_is_not_a_forest_is_refused(forests, message):
    with pytest.raises(ValueError, match=message):
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


def test_features_tried_fits_every_layer():
    assert [features_tried(f, 50) for f in (None, "sqrt", "log2", 200, 0.5, 0.001)] == [50, 7, 5, 50, 25, 1]
