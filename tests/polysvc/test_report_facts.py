"""A polynomial SVM as pages and the command line show it."""

from sklearn.datasets import load_iris

from surewood import PolySVC

X, y = load_iris(return_X_y=True)


def test_figures_and_steps():
    model = PolySVC(degree=2).fit(X, y)
    facts = model.__report_facts__(None)
    figures = {one["label"]: one["value"] for one in facts["figures"]}
    assert figures == {"pairs of classes": 3, "support vectors": len(model.support_)}
    pairs, support = model.__explanation_steps__(model.explain(X[:1])[0])
    assert len(pairs["lines"]) == 3
    assert sum(line.endswith("for 0") for line in pairs["lines"]) == 2
    assert support["support"][0]["label"] == 0
