"""Explanations of any model in words, by the shape of their entries."""

from surewood.workflow.explanation_steps import generic_steps


def test_every_shape_has_its_words():
    explained = {
        "kind": "any",
        "prediction": "a",
        "probabilities": {"a": 1.0},
        "score": 0.123456,
        "distances": {"a": 1.0, "b": 2.5},
        "path": [{"feature": "age", "operator": ">", "value": 30.0}],
        "trees": [{"tree": 0, "vote": "a"}, {"tree": 1, "vote": "b"}],
        "support": [{"row": 3, "label": "a", "distance": 0.5}],
        "nothing": None,
    }
    steps = {one["title"]: one for one in generic_steps(explained)}
    assert steps["Details"]["lines"] == ["score: 0.1235", "distances: a: 1, b: 2.5", "path: age > 30"]
    assert steps["Trees 2"]["lines"] == ["tree: 1", "vote: b"]
    assert steps["Nearest training rows"]["support"][0]["row"] == 3
    assert len(steps) == 4


def test_nothing_to_say_is_no_step():
    assert generic_steps({"prediction": 1, "probabilities": {"1": 1.0}}) == []
