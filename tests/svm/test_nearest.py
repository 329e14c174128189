"""Nearest support vectors, against a search over the training rows."""

import numpy as np
import pytest

from surewood import PolySVC
from surewood.svm.nearest import NEAREST, first_rows, nearest_support
from surewood.tables import begin_fit

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = np.where(X[:, 0] + 0.4 * rng.normal(size=80) > 0, "up", "down")


def test_they_are_training_rows_in_the_order_of_their_distance():
    model = PolySVC(degree=2).fit(X, Y)
    (told,) = model.explain(X[:1])
    support = told["support"]
    assert len(support) == NEAREST
    distances = [one["distance"] for one in support]
    assert distances == sorted(distances)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for one in support:
        assert Y[one["row"]] == one["label"]
        assert one["distance"] == pytest.approx(np.linalg.norm(scaled[one["row"]] - scaled[0]), rel=1e-6)


def test_without_origins_the_rows_are_not_named():
    predictor = PolySVC(degree=1).fit(X, Y).model_.predictor
    found = nearest_support(predictor, predictor.support_rows[0], ["down", "up"])
    assert found[0]["distance"] == 0.0
    assert {one["row"] for one in found} == {None}


def test_merged_rows_point_to_the_first_of_equal_ones():
    repeated = np.concatenate([X[:5], X[:5], X[5:7]])
    labels = np.concatenate([Y[:5], Y[:5], Y[5:7]])
    inputs = begin_fit(PolySVC(), repeated, labels)
    rows = first_rows(inputs)
    np.testing.assert_array_equal(repeated[rows], inputs.table.matrix())
    assert set(rows) == {0, 1, 2, 3, 4, 10, 11}
