"""Sentences about quality, claims and certificates: never sharper than the limit; charts; numbers as text."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from surewood._text import memory_text
from surewood.certify import certify
from surewood.report.guarantee import (
    STATUS_WORDS,
    abstention_chart,
    certificate_facts,
    claim_chart,
    claim_facts,
    group_charts,
    issue,
    quality_sentence,
)
from surewood.report.words import cut_names, number, percent, percent_up, seconds

SCORES = {
    "sample": "holdout", "n": 200, "n_wrong": 10, "error": 0.05, "majority_error": 0.3, "decided": 1.0,
    "auc": 0.8,
}  # fmt: skip


def test_counts_and_the_baseline_are_named():
    assert quality_sentence(SCORES) == (
        "Of 200 holdout rows it predicts 190 correctly (95.0 %); the majority-class baseline gets 70.0 %."
    )


def test_a_model_that_abstains_says_how_often():
    told = quality_sentence({**SCORES, "decided": 0.5, "n_wrong": 5, "error": 0.05, "auc": None})
    assert told.startswith("It decides 100 of 200 holdout rows, 95 of them correctly (95.0 %), and abstains")


ENTRY = {
    "quantity": "error", "side": "at most", "value": 0.10001, "n": 1200, "unit": "rows", "sample": "holdout",
    "decomposition": {"errors": 90.0, "error rate": 0.075}, "population": "", "groups": [], "percent": True,
}  # fmt: skip


def test_limits_are_rounded_to_the_safe_side():
    assert claim_facts(ENTRY)["sentence"] == "Error at most 10.1 % on new rows (7.5 % of 1,200 holdout rows)."
    recall = {**ENTRY, "quantity": "recall of 'bad'", "side": "at least", "value": 0.7199}
    assert claim_facts(recall)["limit_text"] == "71.9 %"


@pytest.mark.parametrize("quantity", ["expected cost", "Brier score"])
def test_costs_are_no_percentages(quantity):
    entry = {
        **ENTRY,
        "quantity": quantity,
        "percent": False,
        "value": 0.51234,
        "decomposition": {"observed": 0.4},
    }
    told = claim_facts(entry)["sentence"]
    words = f"{quantity[:1].upper()}{quantity[1:]} at most 0.5124 on new rows"
    assert told == f"{words} (observed 0.4 on 1,200 holdout rows)."


def test_groups_are_sorted_by_limit_and_the_worst_is_named():
    groups = [{"name": n, "n": 10, "observed": 0.1, "limit": limit} for n, limit in (("a", 0.2), ("b", 0.4))]
    facts = claim_facts(
        {
            **ENTRY,
            "quantity": "error in each of the 2 groups of the holdout (by sex)",
            "groups": groups,
            "decomposition": {},
        }
    )
    assert [group["name"] for group in facts["groups"]] == ["b", "a"]
    assert "of the 2 groups of the holdout (by sex) at most 10.1 % on new rows; the" in facts["sentence"]
    assert "largest limit is that of b (10.0 % of 10 rows)" in facts["sentence"]


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
    assert "with probability at least 95 %" in facts["sentence"]
    assert f"error at most {np.ceil(1e4 * best - 1e-9) / 100:g} % on new rows" in facts["sentence"]
    assert certificate_facts(certificate.to_dict())["sentence"] == facts["sentence"]
    assert all(entry["words"] for entry in facts["entries"])
    assert set(facts["statuses"]) <= set(STATUS_WORDS)


def test_a_guarantee_that_does_not_beat_the_baseline_is_called_that(parts):
    X, y, X_hold, y_hold = parts
    facts = certificate_facts(issue(DummyClassifier().fit(X, y), X, y, (X_hold, y_hold)))
    assert facts["trivial"]
    assert facts["sentence"].startswith("Not guaranteed to beat the majority-class baseline")


def test_a_claim_that_is_not_the_error_is_never_read_as_one():
    from sklearn.dummy import DummyClassifier

    from surewood.certify import certify

    X, y = [[float(i)] for i in range(60)], ["a"] * 50 + ["b"] * 10
    model = DummyClassifier().fit(X, y)
    facts = certificate_facts(certify(model, [[i + 0.5] for i in range(60)], y, claims=["recall:a"]))
    assert "is wrong on at most" not in facts["sentence"]
    assert "recall of 'a' at least 94." in facts["sentence"]
    assert facts["entries"][0]["limit"].startswith("94.")


CLAIM = {
    "quantity": "error", "side": "at most", "limit": 0.1, "limit_text": "10.0 %", "observed": 0.07,
    "percent": True, "groups": [],
}  # fmt: skip


def html(figure):
    return figure["variants"][0]["html"]


def test_estimate_and_limit_stand_side_by_side_with_the_baseline():
    made = claim_chart([CLAIM], 0.3)
    assert "7.0 %, ≤ 10.0 %" in html(made).replace("\u00a0", " ")
    assert "baseline (majority class)" in html(made)


def test_costs_are_not_drawn_among_rates():
    assert claim_chart([{**CLAIM, "percent": False}], 0.3) is None


def test_many_groups_are_cut_and_counted():
    groups = [{"name": f"<{k}>", "n": 9, "observed": 0.1, "limit": 0.5 - k / 200} for k in range(50)]
    (made,) = group_charts([CLAIM, {**CLAIM, "quantity": "error in every region", "groups": groups}])
    assert made["title"] == "Error in every region"
    assert "10 groups with smaller limits are not drawn" in made["caption"]
    assert "<0>" not in html(made)


def test_abstaining_tells_the_best_level():
    levels = [
        {"error": 0.05, "threshold": 0.8, "decided": 0.7},
        {"error": 0.02, "threshold": 0.95, "decided": 0.3},
    ]
    made = abstention_chart({"levels": levels, "without": 0.1, "delta": 0.05, "population": "new rows"})
    assert "decides 70 % of the rows with an error of at most 5.0 %" in made["caption"]
    assert abstention_chart(None) is None


def test_a_guarantee_is_never_rounded_down():
    assert percent_up(0.12340001) == "12.35 %"
    assert percent_up(1.2) == "100 %"
    assert percent_up(None) == percent(None) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        ("<b>", "<b>"),
        (3.0, "3"),
        (-1234567, "-1,234,567"),
        (float("nan"), "–"),
        (-1e400, "−∞"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def test_decimals_where_they_are_asked_for():
    assert number(1234.5678, 2) == "1,234.57"
    assert number(float("inf"), 2) == "∞"


def test_durations_and_sizes_change_their_unit():
    assert [seconds(v) for v in (None, 9.999, 59.96, 61, 3600)] == [
        "–",
        "10.00 s",
        "60.0 s",
        "1 min 1 s",
        "1 h 0 min",
    ]
    assert [memory_text(v) for v in (None, 999, 1000, 2.5e9)] == ["–", "999 B", "1.0 kB", "2.5 GB"]


def test_names_are_cut_where_they_are_equal():
    names = [f"average of the measurements of sensor {k} in 2023" for k in range(30)]
    cut = cut_names(names, 20)
    assert len(set(cut)) == 30
    assert max(map(len, cut)) <= 20
    assert cut_names(["a", "b"], 5) == ["a", "b"]
    assert cut_names(["same", "same"], 5) == ["same", "same"]
