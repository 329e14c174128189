"""Sentences of claims: never sharper than the limit."""

import pytest

from surewood.report.claims import claim_facts, limit_text

ENTRY = {
    "quantity": "error", "side": "at most", "value": 0.10001, "n": 1200, "unit": "rows", "sample": "holdout",
    "decomposition": {"errors": 90.0, "error rate": 0.075}, "population": "", "groups": [],
}  # fmt: skip


def test_limits_are_rounded_to_the_safe_side():
    assert claim_facts(ENTRY)["sentence"] == "The error is at most 10.1 % (7.5 % of 1,200 holdout rows)."
    recall = {**ENTRY, "quantity": "recall of 'bad'", "side": "at least", "value": 0.7199}
    assert limit_text(recall, 1) == "71.9 %"


@pytest.mark.parametrize("quantity", ["expected cost", "Brier score"])
def test_costs_are_no_percentages(quantity):
    entry = {**ENTRY, "quantity": quantity, "value": 0.51234, "decomposition": {"observed": 0.4}}
    told = claim_facts(entry)["sentence"]
    assert told == f"The {quantity} is at most 0.5124 (observed 0.4 on 1,200 holdout rows)."


def test_groups_are_sorted_by_limit_and_the_worst_is_named():
    groups = [{"name": n, "n": 10, "observed": 0.1, "limit": limit} for n, limit in (("a", 0.2), ("b", 0.4))]
    facts = claim_facts({**ENTRY, "quantity": "error in every sex", "groups": groups, "decomposition": {}})
    assert [group["name"] for group in facts["groups"]] == ["b", "a"]
    assert "for all 2 groups at once; the largest limit is that of b (10.0 % of 10 rows)" in facts["sentence"]
