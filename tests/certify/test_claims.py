"""Claims of a certificate against the limits of surewood.bounds at their part of delta."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import matthews_corrcoef, roc_auc_score

from surewood.bounds import betting_upper_limit, clopper_pearson, clopper_pearson_lower, mcc_limit
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
        clopper_pearson(int((said & ~bad).sum()), int((~bad).sum()))
    )
    rejected = int((~bad & ~said).sum())
    specificity = clopper_pearson_lower(rejected, int((~bad).sum()))
    assert one(case, "specificity:bad").value == pytest.approx(specificity)
    assert one(case, "npv:bad").value == pytest.approx(clopper_pearson_lower(rejected, int((~said).sum())))
    p, r = (clopper_pearson_lower(hits, int(n.sum()), delta=0.025) for n in (said, bad))
    assert one(case, "f1:bad").value == pytest.approx(2 * p * r / (p + r))
    s = clopper_pearson_lower(rejected, int((~bad).sum()), delta=0.025)
    assert one(case, "balanced_accuracy").value == pytest.approx((r + s) / 2)
    counts = hits, int((bad & ~said).sum()), int((~bad & said).sum()), rejected
    mcc = one(case, "mcc:bad")
    assert (mcc.value, mcc.n) == (mcc_limit(*counts), y.size)
    assert mcc.decomposition["observed"] == pytest.approx(matthews_corrcoef(bad, said))
    accuracy = one(case, "accuracy")
    assert (accuracy.side, accuracy.value) == ("at least", 1.0 - one(case, "error").value)


def test_groups_name_the_worst(case):
    _, X, y, predicted = case
    wrong, region = predicted != y, X["region"].to_numpy()
    counts = [int((wrong & (region == g)).sum()) for g in (0.0, 1.0)]
    sizes = [int((region == g).sum()) for g in (0.0, 1.0)]
    limits = [clopper_pearson(k, n, delta=0.025) for k, n in zip(counts, sizes)]
    entry = one(case, "error_by:region")
    assert entry.value == pytest.approx(max(limits))
    assert f"largest for region = {int(np.argmax(limits))} (" in entry.note
    assert entry.quantity == f"error in each of the {len(entry.groups)} groups of the holdout (by region)"


def test_claims_about_probabilities(case):
    model, X, y, _ = case
    p, bad = model.predict_proba(X)[:, 0], y == "bad"
    auc = one(case, "auc:bad")
    assert auc.decomposition["observed"] == pytest.approx(roc_auc_score(bad, p))
    assert 0.8 < auc.value < auc.decomposition["observed"]
    assert str(auc.method) == "holdout (betting)"
    loss = one(case, "log_loss")
    clipped = -np.log(np.maximum(np.where(bad, p, 1 - p), 0.001))
    assert loss.decomposition["observed"] == pytest.approx(clipped.mean())
    assert clipped.mean() < loss.value < loss.ceiling == pytest.approx(np.log(1000))
    assert loss.quantity == "log-loss (probabilities below 0.001 count as 0.001)"
    error = one(case, "calibration:bad")
    bins = np.minimum((p * 10).astype(int), 9)
    observed = sum(abs((p - bad)[bins == k].sum()) for k in range(10)) / y.size
    assert error.decomposition["observed"] == pytest.approx(observed)
    assert observed <= error.value < observed + 0.05


def test_gains_are_negative_costs(case):
    matrix = np.array([[-4.0, 5.0], [1.0, 0.0]])
    entry = one(case, Claim("cost", cost=matrix))
    shifted = one(case, Claim("cost", cost=matrix + 4.0))
    assert entry.value == pytest.approx(shifted.value - 4.0)
    assert entry.decomposition["observed"] == pytest.approx(shifted.decomposition["observed"] - 4.0)
    everything = one(case, Claim("cost", cost=-np.ones((2, 2))))
    assert everything.value == -1.0


def test_an_answer_that_is_no_class_costs_the_most(case):
    class Abstains:
        classes_ = np.array(["bad", "good"])

        def predict(self, X):
            return np.full(len(X), "abstain")

    _, X, y, _ = case
    (entry,) = certify(Abstains(), X, y, claims=Claim("cost", cost=[[0, 5], [1, 0]])).guarantees
    assert entry.decomposition["observed"] == 5.0
    assert entry.decomposition["constant prediction"] == min(5 * (y == "bad").mean(), (y == "good").mean())


@pytest.mark.parametrize("claim", ["mcc:bad", "auc:bad", "calibration:bad", "f1:bad", "balanced_accuracy"])
def test_claims_that_are_no_mean_over_rows_are_not_averages_over_groups(case, claim):
    with pytest.raises(ValueError, match="is not possible with groups; possible: error, accuracy"):
        one(case, claim, groups="region")


@pytest.mark.parametrize("claim", ["auc:bad", "calibration:bad", "log_loss", "brier"])
def test_claims_about_probabilities_need_them(case, claim):
    model, X, y, _ = case

    class Labels:
        classes_ = model.classes_

        def predict(self, X):
            return model.predict(X)

    with pytest.raises(ValueError, match="needs a model with predict_proba"):
        certify(Labels(), X, y, claims=claim)


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
    assert not certificate.is_trivial
    assert re.match(
        r"guaranteed: recall of 'bad' at least \d+(\.\d+)? % on new rows, with", certificate.verdict
    )
    assert "recall of 'bad' at least" in repr(certificate)


CONSTANT = [
    ("accuracy", 'accuracy at least', "(80.0 %)"),
    ("balanced_accuracy", "balanced accuracy over the 2 classes of the model at least", "(50.0 %)"),
    ("precision:1", "precision of 1 at least", "(20.0 %)"),
    ("npv:1", "negative predictive value of 1 at least", "(80.0 %)"),
    ("f1:1", "F1 of 1 at least", "(33.3 %)"),
    ("mcc:1", "MCC of 1 at least", "(0)"),
    ("auc:1", "AUC of 1 at least", "(0.5)"),
    ("brier", "Brier score at most", "(0.32)"),
    ("log_loss", "log-loss", "(0.5004)"),
    (Claim("cost", cost=[[0, 1], [1, 0]]), "expected cost", "decision, which costs 0.2 on the holdout"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "words", "constant"), CONSTANT)
def test_a_claim_that_does_not_beat_a_constant_prediction_says_so(claim, words, constant):
    X, y = np.arange(60.0)[:, None], (np.arange(60) % 5 == 0).astype(int)

    class Guess:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (X[:, 0] % 2).astype(int)

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0] % 2, X[:, 0] % 2]) * 0.8 + 0.1

    certificate = certify(Guess(), X, y, claims=claim)
    assert certificate.is_trivial
    assert certificate.verdict.startswith(f"guaranteed: {words}")
    assert "; not proved better than " in certificate.verdict
    assert certificate.verdict.endswith(constant)


def test_a_rate_without_rows_is_not_called_guaranteed(case):
    model, X, y, _ = case
    good = y == "good"
    certificate = certify(model, X[good], y[good], claims="recall:bad")
    assert certificate.is_trivial
    assert certificate.verdict == (
        "not guaranteed: recall of 'bad', because 0 rows guarantee nothing; at least 5 are needed"
    )


def test_a_class_without_rows_says_how_many_are_needed(case):
    model, X, y, _ = case
    good = y == "good"
    entry = certify(model, X[good], y[good], claims=["recall:bad"]).guarantees[0]
    assert entry.value == 0.0
    assert entry.note == "0 rows guarantee nothing; at least 5 are needed"


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
        ("auc", "claim 'auc' needs a class, such as 'auc:bad'"),
        ("lift:bad", "claims must be among error, accuracy"),
        ("cost", "claim 'cost' needs a cost matrix"),
        (Claim("cost", cost=[[0, 1]]), r"cost must be a finite matrix of shape \(2, 2\)"),
        ("error_by:town", "error_by must name a column of X or have one label per row, got 'town'"),
    ],
)
def test_bad_claims_are_named(case, claim, message):
    with pytest.raises(ValueError, match=message):
        certify(*case[:3], claims=[claim])


def test_a_claim_is_a_name_or_an_object(case):
    with pytest.raises(TypeError, match="claims must be names or Claim objects, got int"):
        certify(*case[:3], claims=[3])


def test_fifty_claims_need_no_more_predictions_than_one():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1_000, 4)), rng.integers(0, 2, 1_000)

    class Half:
        classes_ = np.array([0, 1])
        n_predicted = 0

        def predict(self, X):
            self.n_predicted += len(X)
            return (X[:, 0] > 0).astype(int)

    def n_predicted(claims):
        model = Half()
        certify(model, X, y, claims=claims)
        return model.n_predicted

    assert n_predicted(["recall:1", "precision:0", "error", "fpr:1", "accuracy"] * 10) == n_predicted(
        ["error"]
    )
