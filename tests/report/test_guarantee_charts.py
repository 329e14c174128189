"""Charts about guarantees."""

from surewood.report.guarantee_charts import abstention_chart, claim_chart, group_charts

CLAIM = {
    "quantity": "error", "side": "at most", "limit": 0.1, "limit_text": "10.0 %", "observed": 0.07,
    "is_rate": True, "groups": [],
}  # fmt: skip


def html(figure):
    return figure["variants"][0]["html"]


def test_estimate_and_limit_stand_side_by_side_with_the_baseline():
    made = claim_chart([CLAIM], 0.3)
    assert "7.0 %, ≤ 10.0 %" in html(made).replace("\u00a0", " ")
    assert "baseline (majority class)" in html(made)


def test_costs_are_not_drawn_among_rates():
    assert claim_chart([{**CLAIM, "is_rate": False}], 0.3) is None


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
    made = abstention_chart({"levels": levels, "without": 0.1, "delta": 0.05})
    assert "decides 70 % of the rows with an error of at most 5.0 %" in made["caption"]
    assert abstention_chart(None) is None
