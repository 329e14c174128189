"""Boosted trees as pages show them."""

from surewood import BoostedTreesClassifier
from tests.boosting.toy import table


def test_figures_and_steps():
    X, y = table(300)
    model = BoostedTreesClassifier(10, random_state=0).fit(X, y)
    figures = {one["label"]: one["value"] for one in model.__report_facts__(None)["figures"]}
    assert figures["models"] == 5
    assert figures["trees"] == 3 * sum(model.n_rounds_)
    titles = [one["title"] for one in model.__explanation_steps__(model.explain(X.iloc[:1])[0])]
    assert titles[0].startswith("Scores")
    assert "Splits on the path, by feature" in titles
    assert titles[-1].startswith("The tree with the largest value")
