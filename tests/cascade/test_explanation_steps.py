"""One prediction of a cascade in words."""

from surewood.cascade.explanation_steps import explanation_steps

NODES = [
    {"node": 0, "degree": 1, "distance": 0.25, "threshold": 0.5, "goes_on": True},
    {"node": 1, "degree": 2, "distance": 1.5, "threshold": None, "goes_on": False},
]


def one(name, support=()):
    return {
        "class": name,
        "leaf": 1,
        "correct": 30.0,
        "errors": 2.0,
        "nodes": NODES,
        "support": list(support),
    }


def test_the_path_of_a_row():
    (path,) = explanation_steps(None, {"prediction": "a", "votes": {}, "cascades": [one(None)]})
    assert path["title"] == "Path through the cascade"
    assert path["lines"] == [
        "classifier 1 (a polynomial SVM of degree 1): distance 0.25 is at most 0.5; too near the boundary, "
        "goes on",
        "classifier 2 (a polynomial SVM of degree 2): distance 1.5; the last one, it decides",
        "leaf 2: 30 training rows correct, 2 errors",
    ]


def test_of_several_cascades_the_best_two_are_told():
    support = [{"row": 4, "label": "b", "distance": 0.1}]
    votes = {"a": 0.1, "b": 2.0, "c": 1.0}
    explained = {"prediction": "b", "votes": votes, "cascades": [one("a"), one("b", support), one("c")]}
    steps = explanation_steps(None, explained)
    assert [step["title"] for step in steps] == [
        "Votes",
        "Cascade for b",
        "Cascade for c",
        "Nearest support vectors",
    ]
    assert steps[0]["lines"][1:] == ["b: 2", "c: 1", "a: 0.1"]
    assert steps[-1]["support"] == support
