"""One prediction of a composite forest in words."""

from sklearn.datasets import load_iris

from surewood import CompositeTreeClassifier
from surewood.composite.explanation_steps import explanation_steps

X, y = load_iris(return_X_y=True)


def test_steps_of_a_tree():
    tree = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
    explained = tree.explain(X[140:141])[0]
    steps = {one["title"]: one for one in explanation_steps(tree, explained)}
    assert steps["Votes"]["lines"][0] == f"1 of 1 composite tree vote for {explained['prediction']}"
    told = steps[f"Tree 1 votes for {explained['prediction']}"]["lines"]
    assert told[0].startswith("path: ")
    assert "training rows correct" in told[1]
    assert steps["Nearest support vectors"]["support"] == explained["support"]


def test_dissent_and_plain_trees_are_reported():
    tree = {"vote": "a", "degree": 0, "path": [], "points": 9.0, "correct": 7.0}
    explained = {
        "prediction": "a",
        "votes": {"a": 0.7, "b": 0.3},
        "plain_trees": {"trees": 5, "weight": 0.75, "votes": {"a": 0.8, "b": 0.2}},
        "trees": [{**tree, "tree": 0}, {**tree, "tree": 1, "vote": "b", "degree": 2}],
    }
    steps = explanation_steps(None, explained)
    assert steps[0]["lines"] == [
        "1 of 2 composite trees vote for a",
        "the others: 1 for b",
        "5 plain trees, 75 % of the vote  a: 80.0 %, b: 20.0 %",
        "together  a: 70.0 %, b: 30.0 %",
    ]
    assert steps[1]["lines"] == ["1 leaf of degree 0, 1 leaf of degree 2"]
    assert [one["title"] for one in steps[2:]] == ["Tree 1 votes for a", "Tree 2 votes for b"]
