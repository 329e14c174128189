"""A binned forest as pages and the command line show it."""

from sklearn.datasets import load_iris

from surewood import BinnedForestClassifier

X, y = load_iris(return_X_y=True)


def test_figures_and_steps():
    model = BinnedForestClassifier(7, max_depth=2, random_state=0).fit(X, y)
    facts = model.__report_facts__(None)
    assert (facts["title"], facts["figures"][0]["value"]) == ("Binned forest", 7)
    explained = model.explain(X[:1])[0]
    votes, splits, tree = model.__explanation_steps__(explained)
    agreeing = sum(one["vote"] == explained["prediction"] for one in explained["trees"])
    assert votes["lines"][0] == f"{agreeing} of 7 trees vote for {explained['prediction']}"
    assert explained["features"][0]["feature"] in splits["lines"][0]
    assert tree["lines"]
