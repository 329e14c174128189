"""A certificate in plain language."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from surewood.certify import certify
from surewood.report.certificate_words import STATUS_WORDS, certificate_facts, issue


@pytest.fixture(scope="module")
def parts():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order[:300]], y[order[:300]], X[order[300:]], y[order[300:]]


def test_the_sentence_states_the_guaranteed_error(parts):
    X, y, X_hold, y_hold = parts
    certificate = certify(DecisionTreeClassifier(random_state=0).fit(X, y), X_hold, y_hold)
    facts = certificate_facts(certificate)
    best = min(e["value"] for e in facts["entries"] if e["status"] == "GUARANTEE")
    assert not facts["trivial"]
    assert "95 % confidence" in facts["sentence"]
    assert f"at most {np.ceil(1e3 * best - 1e-9) / 10:.1f} %" in facts["sentence"]
    assert certificate_facts(certificate.to_dict())["sentence"] == facts["sentence"]
    assert all(entry["words"] for entry in facts["entries"])
    assert set(facts["statuses"]) <= set(STATUS_WORDS)


def test_a_guarantee_that_does_not_beat_the_baseline_is_called_that(parts):
    X, y, X_hold, y_hold = parts
    facts = certificate_facts(issue(DummyClassifier().fit(X, y), X, y, (X_hold, y_hold)))
    assert facts["trivial"]
    assert facts["sentence"].startswith("We cannot guarantee that this model beats the baseline")


def test_without_a_holdout_there_is_no_guarantee(parts):
    X, y, *_ = parts
    facts = certificate_facts(issue(DummyClassifier().fit(X, y), X, y, None))
    assert facts["sentence"].startswith("No guarantee could be given")
    assert issue(DummyClassifier().fit(X, y), None, None, None) is None


def test_a_claim_that_is_not_the_error_is_never_read_as_one():
    from sklearn.dummy import DummyClassifier

    from surewood.certify import certify

    X, y = [[float(i)] for i in range(60)], ["a"] * 50 + ["b"] * 10
    model = DummyClassifier().fit(X, y)
    facts = certificate_facts(certify(model, [[i + 0.5] for i in range(60)], y, claims=["recall:a"]))
    assert "is wrong on at most" not in facts["sentence"]
    assert "recall of 'a' at least 94." in facts["sentence"]
    assert facts["entries"][0]["limit"].startswith("94.")
