"""scikit-learn's own suite on every public estimator, without an expected failure."""

from estimators import exported, instances, written
from sklearn.utils.estimator_checks import parametrize_with_checks


def test_no_public_estimator_escapes():
    assert written() == set(exported())


@parametrize_with_checks(instances())
def test_scikit_learn_check(estimator, check):
    check(estimator)
