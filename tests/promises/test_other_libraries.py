"""A model of another library on its own training rows."""

from surewood.certify import certify
from tests.promises.population import draw, nearest_neighbour


def test_without_x_train_independence_is_the_callers_word_and_comes_first():
    X, y = draw(300, 0)
    certificate = certify(nearest_neighbour(X, y), *draw(100, 1))
    assert certificate.assumptions[0].startswith("no row is a copy of a training row (not checked")
    lines = repr(certificate).splitlines()
    assert lines[1].strip().startswith("Assumes no row is a copy of a training row")


def test_with_x_train_nothing_is_claimed():
    X, y = draw(300, 0)
    assert certify(nearest_neighbour(X, y), X, y, X_train=X).guarantees == ()
