"""Claims share delta, groups and time change the population, and every certificate knows its baseline."""

import dataclasses
import math
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom
from sklearn.dummy import DummyClassifier

import surewood
from surewood import workflow
from surewood.bounds import Entry, Status
from surewood.certify import Certificate, Claim, Monitor, certify, rows_needed
from surewood.certify.holdout import group_labels
from tests.promises.population import draw, is_true, memorising_forest, nearest_neighbour
from tests.promises.tables import fit, frame, write


def test_every_model_compared_is_paid_for():
    X, y = draw(200, 0)
    model, holdout = memorising_forest(X, y), draw(100, 1)
    values = [certify(model, *holdout, n_models=n).best.value for n in (1, 10, 1000)]
    assert values == sorted(values)
    assert values[0] < values[1] < values[2]
    assert certify(model, *holdout, n_models=10).entries[1].biased


def test_all_claims_share_delta():
    model = memorising_forest(*draw(300, 0))
    names = ["recall:0", "recall:1", "precision:0", "precision:1", "error"] * 10
    certificate = certify(model, *draw(200, 1), claims=names)
    assert len(certificate.guarantees) == 50
    assert math.fsum(entry.delta for entry in certificate.guarantees) <= 0.05 * (1 + 1e-9)
    assert certificate.best.value > certify(model, *draw(200, 1)).best.value


def upper(k, n, delta):
    """The exact upper limit, from the specification: CP+(k, n, delta)."""
    return 1.0 if k == n else float(beta.ppf(1 - delta, k + 1, n - k))


@pytest.fixture(scope="module")
def judged():
    X, y = draw(400, 0)
    model = nearest_neighbour(X, y)
    new, labels = draw(900, 1)
    return model, X, new, labels, model.predict(new)


def test_three_claims_have_a_third_of_delta_each(judged):
    model, X, new, y, found = judged
    certificate = certify(model, new, y, X_train=X, claims=["error", "recall:1", "precision:0"], delta=0.03)
    wrong = int((found != y).sum())
    expected = {
        "error": upper(wrong, len(y), 0.01),
        "recall of 1": 1 - upper(int((found[y == 1] != 1).sum()), int((y == 1).sum()), 0.01),
        "precision of 0": 1 - upper(int((y[found == 0] != 0).sum()), int((found == 0).sum()), 0.01),
    }
    for entry in certificate.guarantees:
        assert entry.delta == pytest.approx(0.01)
        assert entry.value == pytest.approx(expected.pop(entry.quantity.replace("'", "")), abs=1e-9)
    assert not expected


def test_models_compared_multiply_the_claims(judged):
    model, X, new, y, found = judged
    [error, fpr] = certify(
        model, new, y, X_train=X, claims=["error", "fpr:1"], delta=0.05, n_models=5
    ).guarantees
    assert error.value == pytest.approx(upper(int((found != y).sum()), len(y), 0.05 / 10), abs=1e-9)
    negatives = y == 0
    k, n = int((found[negatives] == 1).sum()), int(negatives.sum())
    assert fpr.value == pytest.approx(upper(k, n, 0.05 / 10), abs=1e-9)


def test_balanced_accuracy_is_the_mean_of_recall_limits(judged):
    model, X, new, y, found = judged
    certificate = certify(model, new, y, X_train=X, claims="balanced_accuracy", delta=0.05)
    limits = [1 - upper(int((found[y == c] != c).sum()), int((y == c).sum()), 0.025) for c in (0, 1)]
    assert certificate.guarantees[0].value == pytest.approx(np.mean(limits), abs=1e-9)


def test_a_guarantee_can_neither_be_built_nor_changed():
    entry = certify(memorising_forest(*draw(200, 0)), *draw(100, 1)).best
    with pytest.raises(ValueError, match="issue_guarantee only"):
        dataclasses.replace(entry, value=0.0)
    with pytest.raises(ValueError, match="issue_guarantee only"):
        Entry(method=entry.method, status="GUARANTEE", value=0.0, sample="holdout", n=9, delta=0.05)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.value = 0.0


def test_a_certificate_cannot_hold_more_than_its_delta():
    entry = certify(memorising_forest(*draw(200, 0)), *draw(100, 1)).best
    with pytest.raises(ValueError, match="more than delta"):
        Certificate((entry, entry), (), "M", 0.05)


def test_a_guarantee_that_does_not_beat_the_baseline_says_so():
    X, y = draw(300, 0)
    certificate = certify(DummyClassifier().fit(X, y), *draw(200, 1))
    assert certificate.is_trivial
    assert certificate.verdict.startswith("not guaranteed to beat the majority-class baseline (")
    assert certificate.majority_error is not None


def test_too_few_rows_say_how_many_would_do():
    small = certify(memorising_forest(*draw(600, 0)), *draw(30, 3))
    assert small.is_trivial
    assert small.verdict.startswith(
        "too few holdout rows to guarantee better than the majority-class baseline ("
    )
    assert small.verdict.endswith("would do")


def test_a_constant_model_is_called_trivial():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), (rng.random(400) < 0.05).astype(int)
    model = DummyClassifier().fit(X[:200], y[:200])
    certificate = certify(model, X[200:], y[200:], X_train=X[:200])
    assert certificate.is_trivial
    assert certificate.majority_error == pytest.approx(y[200:].mean())
    assert "baseline" in str(certificate)


def test_a_short_holdout_says_how_many_rows_would_do(tmp_path):
    result = fit(write(frame(60, 0), tmp_path / "short.csv"))
    assert result.certificate.is_trivial
    said = result.certificate.verdict
    assert "baseline" in said
    assert "would do" in said or "not below it" in said


def test_the_number_that_would_do_does():
    """§11.8: the smallest n with CP+(floor(error n), n, delta) <= at_most."""
    n = rows_needed(0.1, 0.2, delta=0.05)
    assert binom.cdf(int(0.1 * n), n, 0.2) <= 0.05
    assert binom.cdf(int(0.1 * (n - 1)), n - 1, 0.2) > 0.05


def test_nothing_is_said_about_a_class_without_rows():
    model = memorising_forest(*draw(300, 0))
    X, y = draw(200, 1)
    zero = y == 0
    certificate = certify(model, X[zero], y[zero], claims=["recall:1", "error"])
    recall, _ = certificate.guarantees
    assert recall.value == 0.0
    assert recall.note == "0 rows guarantee nothing; at least 6 are needed"
    assert is_true(certificate, 0.0)


def test_one_group_allows_no_claim():
    certificate = certify(memorising_forest(*draw(200, 0)), *draw(100, 1), groups=np.zeros(100))
    assert certificate.guarantees == ()
    assert certificate.withheld[0].code == "ONE_GROUP"
    assert not any(entry.biased for entry in certificate.entries if entry.sample == "holdout")


def test_numbers_and_blanks_do_not_make_a_new_group():
    written = pd.Series([1, 1.0, "a", " a ", "a\t", np.float32(2.0), 2.5, None], dtype=object)
    assert group_labels(written, None, 8)[0].tolist() == ["1", "1", "a", "a", "a", "2", "2.5", "(missing)"]


def test_a_group_counts_once():
    X, y = draw(400, 0)
    new, labels = draw(300, 1)
    names = np.arange(300) // 10
    twice = np.array([name if k % 2 else float(name) for k, name in enumerate(names)], dtype=object)
    model = memorising_forest(X, y)
    plain, mixed = (certify(model, new, labels, groups=groups) for groups in (names, twice))
    assert [entry.n for entry in mixed.entries] == [entry.n for entry in plain.entries]
    assert [entry.value for entry in mixed.entries] == [entry.value for entry in plain.entries]


MODEL = memorising_forest(*draw(200, 0))


@pytest.mark.parametrize("time", [np.arange(100), pd.date_range("2024-01-01", periods=100).astype(str)])
def test_the_future_is_estimated_not_guaranteed(time):
    certificate = certify(MODEL, *draw(100, 1), time=time)
    assert certificate.guarantees == ()
    assert "the future may differ from the past" in certificate.withheld[0].reason
    assert certificate.by_status(Status.ESTIMATE)


@pytest.mark.parametrize("time", [["soon"] * 100, [None] * 100])
def test_times_that_cannot_be_read_get_one_sentence(time):
    with pytest.raises(ValueError, match="time must hold numbers or dates that can be read"):
        certify(MODEL, *draw(100, 1), time=time)


def test_the_last_part_is_held_out_and_nothing_is_guaranteed(tmp_path):
    rows = frame(200, 0)
    rows["day"] = pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d")
    shuffled = rows.sample(frac=1.0, random_state=3).reset_index(drop=True)
    result = fit(write(shuffled, tmp_path / "time.csv"), time="day")
    held = result.holdout_rows.tolist()
    assert shuffled["day"].iloc[held].min() > shuffled["day"].drop(held).max()
    assert result.certificate.guarantees == ()
    [measured] = [entry for entry in result.certificate.entries if entry.sample == "holdout"]
    assert str(measured.status) == "ESTIMATE"
    assert any("the future may differ" in entry.reason for entry in result.certificate.withheld)
    assert "day" not in result.model[0].columns_


def test_rows_of_one_moment_are_on_one_side(tmp_path):
    rows = frame(200, 1).assign(month=np.repeat(np.arange(10), 20))
    result = fit(write(rows, tmp_path / "time.csv"), time="month", holdout=0.25)
    held = np.isin(np.arange(200), result.holdout_rows.tolist())
    assert set(rows["month"][held]) == {7, 8, 9} or set(rows["month"][held]) == {8, 9}
    assert not set(rows["month"][held]) & set(rows["month"][~held])


def patients(n_groups, per_group, seed):
    """Each patient has one random label and a fingerprint that all of their rows share."""
    rng = np.random.default_rng(seed)
    label, mark = rng.random(n_groups) < 0.5, rng.normal(size=n_groups)
    who = np.repeat(np.arange(n_groups), per_group)
    return pd.DataFrame(
        {
            "patient": [f"p{k}" for k in who],
            "mark": mark[who] + 1e-3 * rng.normal(size=len(who)),
            "noise": rng.normal(size=len(who)),
            "y": np.where(label[who], "yes", "no"),
        }
    ).sample(frac=1.0, random_state=seed)


def test_a_fingerprint_of_the_patient_earns_nothing(tmp_path):
    path = write(patients(60, 10, 0), tmp_path / "patients.csv")
    result = fit(path, groups="patient")
    [claim] = [entry for entry in result.certificate.guarantees if entry.sample == "holdout"]
    assert claim.value > 0.5  # the label of a new patient is a coin
    assert (claim.n, claim.unit) == (12, "groups")
    assert "new group" in claim.population
    assert "patient" not in result.model[0].columns_


def test_no_group_is_on_both_sides(tmp_path):
    rows = patients(40, 5, 1).reset_index(drop=True)
    result = fit(write(rows, tmp_path / "patients.csv"), groups="patient")
    held = np.isin(np.arange(len(rows)), result.holdout_rows.tolist())
    assert held.any()
    assert not set(rows["patient"][held]) & set(rows["patient"][~held])


def _held_out(path, **options):
    return fit(path, **options).holdout_rows.tolist()


def test_the_same_rows_are_held_out_whatever_the_labels(tmp_path):
    rows = frame(120, 0)
    first = _held_out(write(rows, tmp_path / "first.csv"))
    rare = rows.assign(y=np.where(np.isin(np.arange(120), first[:3]), "rare", rows["y"]))
    result = fit(write(rare, tmp_path / "rare.csv"))
    assert result.holdout_rows.tolist() == first
    assert any("'rare'" in note and "training" in note for note in result.notes)
    assert result.certificate.guarantees[0].n == 24
    assert result.error >= 3 / 24  # a class that training never saw counts as an error


def test_a_class_without_a_holdout_row_is_noted(tmp_path):
    rows = frame(120, 0)
    held = _held_out(write(rows, tmp_path / "first.csv"))
    kept = [k for k in range(120) if k not in held][:4]
    rare = rows.assign(y=np.where(np.isin(np.arange(120), kept), "rare", rows["y"]))
    result = fit(write(rare, tmp_path / "rare.csv"))
    assert any("'rare'" in note and "holdout" in note for note in result.notes)
    assert result.certificate.guarantees[0].n == 24


def test_classes_that_were_dropped_from_training_withhold_what_the_training_rows_would_guarantee(tmp_path):
    """One row in eleven has a class of its own; without those rows the others are learned perfectly."""
    k = np.repeat(np.arange(100), 10)
    rows = pd.DataFrame({"x": np.r_[k, np.arange(100)] + 0.01 * np.arange(1100), "z": np.arange(1100) % 7})
    rows["y"] = [f"c{label:02d}" for label in k] + [f"one of a kind {label}" for label in range(100)]
    path = write(rows, tmp_path / "rare.csv")
    options = {"holdout": 0.3, "n_jobs": 1, "parameters": {"n_estimators": 5, "certifiable": True}}
    names = {**surewood.SHORT_NAMES, "forest": "BinnedForestClassifier"}
    with mock.patch.object(surewood, "SHORT_NAMES", names):
        result = workflow.fit(path, target="y", model="forest", out=tmp_path / "m", **options)
    assert [entry.sample for entry in result.certificate.guarantees] == ["holdout"]
    assert any("choice of columns or rows was fitted" in item.reason for item in result.certificate.withheld)
    again = workflow.certify_model(tmp_path / "m", path, copies="leave_out").certificate
    assert {entry.sample for entry in again.guarantees} <= {"holdout"}


def test_large_groups_that_are_harder_show_the_error_by_rows_beside_the_claim():
    rng = np.random.default_rng(0)
    large = np.arange(60) < 12
    group = np.repeat(np.arange(60), np.where(large, 40, 4))
    X = rng.normal(size=(group.size, 3))
    y = np.where(large[group], rng.integers(0, 2, group.size), X[:, 0] > 0).astype(int)
    model = nearest_neighbour(np.array([[-1.0, 0, 0], [1.0, 0, 0]]), np.array([0, 1]))
    certificate = certify(model, X, y, groups=group)
    assert certificate.verdict.startswith(
        "guaranteed: average error of a new group, each group counting once, at most "
    )
    of_groups, by_rows = certificate.entries[1:3]
    assert (of_groups.method, by_rows.method) == ("holdout error, mean over groups", "holdout error, by rows")
    assert by_rows.value > certificate.best.value > of_groups.value


def test_a_rate_over_groups_is_about_groups_that_have_such_rows_and_a_cost_counts_every_group_once():
    X, y = draw(400, 0)
    group = np.r_[np.zeros(300), np.arange(1, 101)]  # one group has most of the rows
    y[:300] = 1
    model = memorising_forest(*draw(300, 1))
    claims = ["recall:0", Claim("cost", cost=[[0, 1], [1, 0]])]
    recall, cost = certify(model, X, y, groups=group, claims=claims).guarantees
    assert recall.n == (y == 0).sum()
    assert recall.population == "new groups with such rows"
    verdict = certify(model, X, y, groups=group, claims="recall:0").verdict
    assert "recall of 0 of a new group with such rows, each group counting once, at least" in verdict
    ones = (1 + (y[300:] == 1).sum()) / 101
    assert cost.decomposition["constant prediction"] == pytest.approx(min(ones, 1 - ones))


def test_classes_that_the_model_does_not_know_count():
    X, y = draw(300, 0)
    model = memorising_forest(X, y)
    new, labels = draw(300, 1)
    labels = np.where(np.arange(300) < 40, 7, labels)
    claims = ["balanced_accuracy", "error", Claim("cost", cost=[[0, 1], [3, 0]])]
    balanced, error, cost = certify(model, new, labels, claims=claims).guarantees
    assert balanced.decomposition["recall of 7, at least"] == 0.0
    assert balanced.value < 2 / 3
    assert balanced.quantity == "balanced accuracy over 3 classes, 1 of them unknown to the model,"
    known = certify(model, *draw(300, 1), claims="balanced_accuracy").verdict
    assert known.startswith("guaranteed: balanced accuracy over the 2 classes of the model at least ")
    assert error.value > 40 / 300
    assert cost.decomposition["observed"] >= 3 * 40 / 300


def test_a_stratified_holdout_combines_limits_per_class():
    X, y = draw(400, 0)
    model = memorising_forest(X, y)
    new, labels = draw(1000, 1)
    entry = certify(model, new, labels, stratified=True).best
    wrong = model.predict(new) != labels
    parts = [
        (labels == c).mean() * upper(int(wrong[labels == c].sum()), int((labels == c).sum()), 0.025)
        for c in (0, 1)
    ]
    assert entry.value == pytest.approx(sum(parts))
    assert entry.population == "new rows with the class fractions of this holdout"
    assert not any("from the population you care about" in one.text for one in entry.conditions)
    with pytest.raises(ValueError, match="class fractions of this holdout, and a batch has rows as they"):
        Monitor(certify(model, new, labels, stratified=True))  # their fractions may differ
    with pytest.raises(ValueError, match="claim 'precision' is not possible with stratified=True"):
        certify(model, new, labels, stratified=True, claims="precision:1")


def test_names_of_groups_that_tell_the_outcome_do_not_choose_the_order_of_the_bets():
    model = DummyClassifier(strategy="constant", constant=0).fit([[0], [0]], [0, 1])
    rng, failures = np.random.default_rng(0), 0
    for _ in range(200):
        y = (rng.random(32) < 0.2).astype(int)
        groups = [f"{'sick' if label else 'healthy'} {rng.integers(10**6)}" for label in y]
        certificate = certify(model, rng.normal(size=(32, 1)), y, groups=groups)
        failures += certificate.guarantees[0].value < 0.2
    assert failures <= binom.ppf(0.999, 200, 0.05)


def test_the_loss_and_not_the_sample_decides_whether_the_exact_limit_applies():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    sure = DummyClassifier(strategy="constant", constant=0).fit(X, y)  # probabilities 0 and 1
    assert certify(sure, X, y, claims="brier").guarantees[0].method == "holdout (betting)"
    either = Claim("cost", cost=[[-1, 3], [3, -1]])
    assert certify(sure, X, y, claims=either).guarantees[0].method == "holdout (Clopper-Pearson)"


def test_f1_rests_on_the_rows_of_the_holdout(judged):
    model, X, new, y, _ = judged
    assert certify(model, new, y, X_train=X, claims="f1:1").guarantees[0].n == len(y)
