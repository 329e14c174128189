"""A monitor: when it raises an alarm, what it counts, and that it goes on where it stopped."""

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier
from surewood.certify import Monitor, MonitorStateError, ThresholdedClassifier, certify


def draw(n, seed, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where((X[:, 0] > 0) ^ (rng.random(n) < noise), "yes", "no")


@pytest.fixture(scope="module")
def forest():
    return BinnedForestClassifier(40, random_state=0, n_jobs=1, oob_score=True).fit(*draw(600, 0))


@pytest.fixture(scope="module")
def certificate(forest):
    return certify(forest, *draw(800, 1))


def scores(model, seed=1, n=800):
    return model.predict_proba(draw(n, seed)[0]).max(axis=1)


def test_quiet_while_the_guarantee_is_true_and_an_alarm_when_the_error_doubles(forest, certificate):
    monitor = Monitor(certificate, model=forest, holdout_scores=scores(forest))
    look = monitor.update(*draw(1000, 2))
    assert not look.alarm
    assert look.lower < certificate.best.value
    assert look.n_labelled == look.n_scored == 1000
    look = monitor.update(*draw(1000, 3, noise=0.35))
    assert look.error_alarm
    assert not look.shift_alarm
    assert look.error_evidence > 20
    assert monitor.update(*draw(500, 4)).error_alarm, "an alarm stays one"


def test_a_shift_is_seen_without_labels(forest, certificate):
    monitor = Monitor(certificate, model=forest, holdout_scores=scores(forest))
    assert not monitor.update(draw(500, 5)[0]).alarm
    rng = np.random.default_rng(6)
    near_the_border = np.c_[0.05 * rng.normal(size=500), rng.normal(size=(500, 2))]
    look = monitor.update(near_the_border)
    assert look.shift_alarm
    assert not look.error_alarm
    assert look.n_labelled == 0


def test_it_resumes_from_a_plain_file(forest, certificate, tmp_path):
    batches = [draw(300, seed, noise=0.2) for seed in (7, 8, 9)]
    whole = Monitor(certificate, model=forest, holdout_scores=scores(forest))
    for batch in batches:
        expected = whole.update(*batch)
    path = tmp_path / "monitor.json"
    Monitor(certificate, model=forest, holdout_scores=scores(forest)).save(path)
    for batch in batches:
        monitor = Monitor.load(path, model=forest)
        look = monitor.update(*batch)
        monitor.save(path)
    assert look == expected
    assert path.stat().st_size < 300_000


def test_a_batch_seen_twice_is_refused_in_any_order_and_after_resuming(forest, certificate, tmp_path):
    monitor = Monitor(certificate, model=forest, holdout_scores=scores(forest))
    X, y = draw(200, 10)
    monitor.update(X, y)
    monitor = Monitor.load(monitor.save(tmp_path / "m.json"), model=forest)
    before = monitor.look()
    with pytest.raises(ValueError, match="this batch was seen before"):
        monitor.update(X[::-1], y[::-1])
    with pytest.raises(ValueError, match="this batch was seen before"):
        monitor.update(X)
    assert monitor.look() == before


def test_labels_may_come_later(forest, certificate):
    monitor = Monitor(certificate, model=forest, holdout_scores=scores(forest))
    X, y = draw(200, 11)
    assert monitor.update(X).n_labelled == 0
    look = monitor.update(X, y)
    assert (look.n_labelled, look.n_scored) == (200, 200)


def test_training_rows_in_a_batch_are_refused_or_left_out_as_certified(forest, certificate):
    X, y = draw(100, 12)
    old, old_labels = draw(600, 0)
    labels = np.r_[y, old_labels[:50]].astype(object)
    labels[:10] = None
    with pytest.raises(ValueError, match="50 of 150 holdout rows are training rows, about 0 would be"):
        Monitor(certificate, model=forest).update(np.r_[X, old[:50]], labels)
    look = Monitor(certificate, model=forest, copies="leave_out").update(np.r_[X, old[:50]], labels)
    assert (look.n_left_out, look.n_labelled) == (50, 90)


def test_rule_and_scores_come_from_the_certificate():
    """Rows that equal a training row are counted nowhere."""
    X, y = draw(400, 20)
    forest = BinnedForestClassifier(20, random_state=0).fit(np.r_[X, X], np.r_[y, y])
    new, labels = draw(300, 21)
    mixed = np.r_[new, X[:100]], np.r_[labels, y[:100]]
    certificate = certify(forest, *mixed, copies="leave_out")
    assert certificate.copies == "leave_out"
    assert "on rows that are not copies of training rows" in certificate.verdict
    monitor = Monitor(certificate, model=forest, holdout=mixed[0])
    assert sum(monitor.state.score_counts.values()) == certificate.best.n == 300
    assert monitor.update(np.r_[draw(50, 22)[0], X[100:130]]).n_left_out == 30


def test_rows_on_which_the_model_abstains_do_not_count_as_errors(forest):
    careful = ThresholdedClassifier(forest, 0.95)
    X, y = draw(500, 14)
    accepted = careful.predict(X) != "abstain"
    look = Monitor(0.14, model=careful).update(X, y)
    assert look.n_labelled == accepted.sum() < 500
    assert look.n_errors == (careful.predict(X)[accepted] != y[accepted]).sum()


def test_other_columns_are_refused():
    X, y = draw(300, 15)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = BinnedForestClassifier(10, random_state=0).fit(frame, y)
    monitor = Monitor(0.3, model=model)
    monitor.update(frame + 0.01, y)
    with pytest.raises(ValueError, match="this batch has other columns than those before: 'c' is missing"):
        monitor.update(frame[["a", "b"]] + 0.02, y)


def test_false_alarms_are_rare_although_one_looks_after_every_batch():
    rng = np.random.default_rng(16)
    alarms = {"error": 0, "shift": 0}
    for _ in range(300):
        monitor = Monitor(0.1, holdout_scores=rng.random(100), alpha=0.1, seed=int(rng.integers(1 << 30)))
        for _ in range(6):
            look = monitor.add(errors=rng.random(50) < 0.1, scores=rng.random(50))
        alarms["error"] += look.error_alarm
        alarms["shift"] += look.shift_alarm
    assert max(alarms.values()) <= 300 * 0.1 + 3 * np.sqrt(300 * 0.09)


def test_bad_arguments_are_named(forest, tmp_path):
    with pytest.raises(ValueError, match="limit, holdout or holdout_scores must be given"):
        Monitor(None)
    with pytest.raises(ValueError, match=r"limit must be in \(0, 1\), got 1"):
        Monitor(1)
    with pytest.raises(ValueError, match="the certificate does not guarantee the error"):
        Monitor(certify(forest, *draw(600, 0), sample="training"))
    with pytest.raises(ValueError, match="errors or scores must be given"):
        Monitor(0.1).add()
    with pytest.raises(ValueError, match="errors must be 0 or 1"):
        Monitor(0.1).add(errors=[0.5])
    with pytest.raises(ValueError, match="update needs a model"):
        Monitor(0.1).update([[1.0]])
    with pytest.raises(ValueError, match="y must hold labels the model knows, such as no; got maybe"):
        Monitor(0.1, model=forest).update(draw(3, 17)[0], ["maybe"] * 3)
    with pytest.raises(ValueError, match=r"y must have one label per row \(3\), got shape \(2,\)"):
        Monitor(0.1, model=forest).update(draw(3, 17)[0], ["yes"] * 2)
    path = Monitor(0.1, name="a").save(tmp_path / "m.json")
    with pytest.raises(MonitorStateError, match="is the state of another model"):
        Monitor.load(path, name="b")
