"""Thresholds that keep a promise: what is found, and what is refused."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import surewood
from surewood import BinnedForestClassifier
from surewood.bounds import Status
from surewood.certify import NoThresholdError, certify, find_threshold


def rare(n=4000, seed=0):
    return make_classification(n, 10, weights=[0.9], class_sep=1.2, flip_y=0.05, random_state=seed)


@pytest.fixture(scope="module")
def forest():
    X, y = rare()
    return BinnedForestClassifier(80, oob_score=True, random_state=0, n_jobs=1).fit(X[:2000], y[:2000])


@pytest.fixture(scope="module")
def holdout():
    X, y = rare()
    return X[2000:], y[2000:]


def rates(found, X, y, positive=1):
    predicted, real = found.predict(X) == positive, y == positive
    return {
        "precision": (predicted & real).sum() / max(1, predicted.sum()),
        "recall": (predicted & real).sum() / real.sum(),
        "fpr": (predicted & ~real).sum() / (~real).sum(),
    }


@pytest.mark.parametrize(("name", "value"), [("precision", 0.8), ("fpr", 0.05), ("recall", 0.6)])
def test_the_promise_holds_on_the_holdout_and_is_a_guarantee(forest, holdout, name, value):
    found = find_threshold(forest, *holdout, **{name: value})
    rate = rates(found, *holdout)[name]
    assert rate <= value if name == "fpr" else rate >= value
    assert found.guarantee.status is Status.GUARANTEE
    assert found.guarantee.value == value
    assert found.guarantee.delta == 0.05
    assert found.coverage.lower < found.coverage.fraction < found.coverage.upper
    assert found.certificate.guarantees == found.guarantees
    assert f"{found.threshold:.4g}" in str(found)


def test_recall_takes_the_strictest_and_precision_the_laxest_threshold(forest, holdout):
    strict, lax = (find_threshold(forest, *holdout, recall=r).threshold for r in (0.5, 0.7))
    assert strict > lax
    lax, strict = (find_threshold(forest, *holdout, precision=p).threshold for p in (0.6, 0.85))
    assert strict > lax


def test_two_promises_share_delta(forest, holdout):
    found = find_threshold(forest, *holdout, recall=0.5, precision=0.6)
    assert [entry.delta for entry in found.guarantees] == [0.025, 0.025]
    observed = rates(found, *holdout)
    assert observed["recall"] >= 0.5
    assert observed["precision"] >= 0.6
    with pytest.raises(NoThresholdError, match=r"at once with these .* rows; each alone can be guaranteed"):
        find_threshold(forest, *holdout, recall=0.8, precision=0.8)


def test_models_compared_cost_confidence_and_do_not_add_to_it(forest, holdout):
    alone = find_threshold(forest, *holdout, recall=0.5)
    best_of_ten = find_threshold(forest, *holdout, recall=0.5, n_models=10)
    assert best_of_ten.threshold <= alone.threshold
    assert (best_of_ten.guarantee.delta, best_of_ten.guarantee.n_models) == (0.05, 10)
    assert best_of_ten.certificate.verdict.endswith("with probability at least 95 %")
    assert (
        best_of_ten.coverage.upper - best_of_ten.coverage.lower > alone.coverage.upper - alone.coverage.lower
    )


def test_abstention_answers_in_words_and_is_right_where_it_decides(forest, holdout):
    found = find_threshold(forest, *holdout, accepted_error=0.06)
    X, y = holdout
    decided = found.predict(X)
    accepted = decided != "abstain"
    assert 0 < accepted.mean() < 1
    assert (decided[accepted] != y[accepted]).mean() <= 0.06
    assert found.coverage.fraction == pytest.approx(accepted.mean(), abs=0.01)


def test_a_class_of_many_against_the_rest():
    X, y = make_classification(3000, 12, n_informative=6, n_classes=3, random_state=1)
    labels = np.array(["a", "b", "c"])[y]
    model = BinnedForestClassifier(60, oob_score=True, random_state=0, n_jobs=1).fit(X[:1500], labels[:1500])
    found = find_threshold(model, X[1500:], labels[1500:], positive="b", recall=0.8)
    assert set(found.predict(X)) == {"a", "b", "c"}
    assert rates(found, X[1500:], labels[1500:], "b")["recall"] >= 0.8
    with pytest.raises(ValueError, match="positive must name one of the 3 classes"):
        find_threshold(model, X[1500:], labels[1500:], recall=0.8)
    with pytest.raises(ValueError, match=r"positive must be a class of the model \(a, b, c\), got 'd'"):
        find_threshold(model, X[1500:], labels[1500:], positive="d", recall=0.8)


def test_a_model_of_another_library_gets_a_fixed_grid(holdout):
    X, y = rare()
    model = LogisticRegression(max_iter=1000).fit(X[:2000], y[:2000])
    found = find_threshold(model, *holdout, precision=0.7, X_train=X[:2000])
    assert rates(found, *holdout)["precision"] >= 0.7
    assert "not checked" in find_threshold(model, *holdout, fpr=0.1).guarantee.conditions[0].text


def test_no_threshold_says_what_could_be_promised_and_how_many_rows_would_do(forest, holdout):
    X, y = holdout
    with pytest.raises(
        NoThresholdError, match=r"no threshold guarantees recall of 1 at least 0\.99"
    ) as caught:
        find_threshold(forest, X[:300], y[:300], recall=0.99)
    assert "the best that could be guaranteed, as the only requirement, is at least 0." in str(caught.value)
    assert f"about {caught.value.rows_needed:,} rows would do" in str(caught.value)
    assert caught.value.rows_needed > 300
    best = np.floor(1000 * caught.value.best) / 1000
    assert find_threshold(forest, X[:300], y[:300], recall=float(best) - 0.05).guarantee.value < 0.99


def test_saved_and_loaded_it_keeps_threshold_and_guarantee(forest, holdout, tmp_path):
    for asked in ({"recall": 0.6}, {"accepted_error": 0.07}):
        found = find_threshold(forest, *holdout, **asked)
        again = surewood.load(surewood.save(found, tmp_path / "threshold.surewood"))
        assert (again.predict(holdout[0]) == found.predict(holdout[0])).all()
        assert again.guarantee == found.guarantee
        assert again.coverage == found.coverage
        assert len(repr(again).splitlines()) <= 10


def test_rows_the_threshold_was_chosen_on_are_not_counted_again(forest, holdout):
    found = find_threshold(forest, *holdout, recall=0.6)
    assert certify(found, *holdout).guarantees == ()
    fresh = rare(seed=0)[0][2000:] + 0.01
    assert certify(found, fresh, holdout[1], claims="recall:1").guarantees


def test_bad_arguments_are_named(forest, holdout):
    with pytest.raises(ValueError, match="ask for one of precision, fpr, recall, accepted_error"):
        find_threshold(forest, *holdout)
    with pytest.raises(ValueError, match="accepted_error cannot be combined"):
        find_threshold(forest, *holdout, recall=0.5, accepted_error=0.1)
    with pytest.raises(ValueError, match=r"recall must be in \(0, 1\), got 90"):
        find_threshold(forest, *holdout, recall=90)
    X, y = rare()
    with pytest.raises(NoThresholdError, match="no guarantee: these are the 2,000 training rows"):
        find_threshold(forest, X[:2000], y[:2000], recall=0.5)

    class Odd(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) * 2

    odd = Odd().fit(X[:500], y[:500])
    with pytest.raises(ValueError, match="probabilities that sum to one"):
        find_threshold(odd, *holdout, recall=0.5)
