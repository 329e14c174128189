"""scikit-learn's own suite on every public estimator, without an expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.estimators import exported, instances, written


def test_no_public_estimator_escapes():
    assert written() == set(exported())


@parametrize_with_checks(instances())
def test_scikit_learn_check(estimator, check):
    check(estimator)
