"""One prediction of a deep forest in words."""

from sklearn.datasets import load_iris

from surewood import MarginDeepForestClassifier
from surewood.deepforest.explanation_steps import explanation_steps


def test_layer_by_layer():
    X, y = load_iris(return_X_y=True)
    model = MarginDeepForestClassifier(3, forests=["random"], max_layers=2, random_state=0).fit(X, y)
    explained = model.explain(X[:1])[0]
    steps = explanation_steps(model, explained)
    assert len(steps) == 1 + len(explained["layers"])
    assert steps[0]["lines"][0].startswith("all layers together  0: ")
    assert steps[1]["title"].startswith("Layer 1")
    assert any(line.startswith("splits on the path, by feature: ") for line in steps[1]["lines"])
    assert any(line.startswith("forests: ") for line in steps[1]["lines"])
