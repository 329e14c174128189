"""Claims of a certificate against the limits of surewood.bounds at their part of delta."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from surewood.bounds import (
    balanced_accuracy_limit,
    betting_upper_limit,
    clopper_pearson_lower,
    error_limit,
    f1_limit,
    worst_group_limit,
)
from surewood.certify import Claim, certify


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + 0.6 * rng.normal(size=900) > 0.8, "bad", "good")
    X["region"] = np.where(rng.random(900) < 0.3, 1.0, 0.0)
    model = RandomForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    return model, X[400:], y[400:], model.predict(X[400:])


def one(case, claim, **options):
    (entry,) = certify(*case[:3], claims=[claim], **options).guarantees
    return entry


def test_rates_of_a_class(case):
    _, _, y, predicted = case
    bad, said = y == "bad", predicted == "bad"
    hits = int((bad & said).sum())
    assert one(case, "recall:bad").value == pytest.approx(clopper_pearson_lower(hits, int(bad.sum())))
    assert one(case, "precision:bad").value == pytest.approx(clopper_pearson_lower(hits, int(said.sum())))
    assert one(case, "fpr:bad").value == pytest.approx(
        error_limit(int((said & ~bad).sum()), int((~bad).sum()))
    )
    assert one(case, "f1:bad").value == pytest.approx(f1_limit(hits, int(bad.sum()), int(said.sum())))
    right = [int((bad & said).sum()), int((~bad & ~said).sum())]
    sizes = [int(bad.sum()), int((~bad).sum())]
    assert one(case, "balanced_accuracy").value == pytest.approx(balanced_accuracy_limit(right, sizes))
    accuracy = one(case, "accuracy")
    assert (accuracy.side, accuracy.value) == ("at least", 1.0 - one(case, "error").value)


def test_groups_name_the_worst(case):
    _, X, y, predicted = case
    wrong, region = predicted != y, X["region"].to_numpy()
    counts = [int((wrong & (region == g)).sum()) for g in (0.0, 1.0)]
    sizes = [int((region == g).sum()) for g in (0.0, 1.0)]
    expected = worst_group_limit(counts, sizes)
    entry = one(case, "error_by:region")
    assert entry.value == pytest.approx(expected.value)
    assert f"largest for region = {int(expected.worst)} (" in entry.note
    assert entry.quantity == "error in every region"


def test_cost_and_brier_are_bounded_means(case):
    model, X, y, predicted = case
    matrix = [[0.0, 5.0], [1.0, 0.0]]
    cost = np.where(y == predicted, 0.0, np.where(y == "bad", 5.0, 1.0))
    entry = one(case, Claim("cost", cost=matrix))
    assert entry.decomposition["observed"] == pytest.approx(cost.mean())
    assert cost.mean() < entry.value < entry.ceiling == 5.0
    p = model.predict_proba(X)
    brier = ((p - np.column_stack([y == "bad", y == "good"])) ** 2).sum(axis=1)
    entry = one(case, "brier")
    assert entry.decomposition["observed"] == pytest.approx(brier.mean())
    assert entry.value == pytest.approx(2 * betting_upper_limit(brier / 2), rel=0.1)  # another order


def test_claims_share_delta_and_models_multiply(case):
    certificate = certify(*case[:3], claims=["error", "recall:bad", "brier"], delta=0.06)
    assert [entry.delta for entry in certificate.guarantees] == pytest.approx([0.02] * 3)
    assert certificate.best.quantity == "error"
    assert one(case, "recall:bad", n_models=4).value == pytest.approx(
        one(case, "recall:bad", delta=0.0125).value
    )


def test_a_certificate_without_the_error_still_has_a_verdict(case):
    certificate = certify(*case[:3], claims="recall:bad")
    assert certificate.best is None
    assert re.match(r"guaranteed recall of 'bad' at least \d+(\.\d+)? % with", certificate.verdict)
    assert "recall of 'bad' at least" in repr(certificate)


def test_a_class_without_rows_says_how_many_are_needed(case):
    model, X, y, _ = case
    good = y == "good"
    entry = certify(model, X[good], y[good], claims=["recall:bad"]).guarantees[0]
    assert entry.value == 0.0
    assert entry.note == "too few rows to say anything: 0; at least 5 are needed"


def test_missing_group_labels_are_a_group_of_their_own(case):
    model, X, y, _ = case
    by = np.where(np.arange(500) < 100, None, "known")
    entry = certify(model, X, y, claims=[Claim("error_by", by=by)]).guarantees[0]
    assert set(entry.decomposition) == {"(missing)", "known"}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("recall:ugly", "claim 'recall': the model does not know class 'ugly'; it knows bad, good"),
        ("recall", "claim 'recall' needs a class, such as 'recall:bad'"),
        ("auc", "claims must be among error, accuracy"),
        ("cost", "claim 'cost' needs a cost matrix"),
        (Claim("cost", cost=[[0, 1]]), r"cost must be a matrix of shape \(2, 2\)"),
        ("error_by:town", "error_by must name a column of X or have one label per row, got 'town'"),
    ],
)
def test_bad_claims_are_named(case, claim, message):
    with pytest.raises(ValueError, match=message):
        certify(*case[:3], claims=[claim])


def test_a_claim_is_a_name_or_an_object(case):
    with pytest.raises(TypeError, match="claims must be names or Claim objects, got int"):
        certify(*case[:3], claims=[3])


def test_fifty_claims_on_many_rows_are_quick():
    import time

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100_000, 4)), rng.integers(0, 2, 100_000)

    class Half:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

    def seconds(claims):
        start = time.perf_counter()
        certify(Half(), X, y, claims=claims)
        return time.perf_counter() - start

    one_claim = min(seconds(["error"]) for _ in range(2))
    assert seconds(["recall:1", "precision:0", "error", "fpr:1", "accuracy"] * 10) - one_claim < 1.5
