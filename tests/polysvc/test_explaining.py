"""Explanations add up: votes are the pairs won, the prediction has the most."""

from surewood import PolySVC
from tests.svm.reference import blobs

X, Y = blobs(120, 4, 3, 1)


def test_votes_are_the_pairs_won():
    model = PolySVC(degree=2).fit(X, Y)
    for row, label in zip(model.explain(X[:10]), model.predict(X[:10])):
        won = [pair["first"] if pair["decision"] > 0 else pair["second"] for pair in row["pairs"]]
        assert {c: won.count(c) for c in row["votes"]} == row["votes"]
        assert row["prediction"] == label == max(row["votes"], key=row["votes"].get)
        assert row["degree"] == 2


def test_without_probabilities_or_degree():
    [row] = PolySVC(kernel="rbf", calibrate=False).fit(X, Y).explain(X[:1])
    assert row["probabilities"] is None
    assert row["degree"] is None
    assert len(row["support"]) == 5
