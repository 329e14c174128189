"""Rank diagrams: the critical distance, the groups, the picture."""

import pytest

from surewood.experiments.rank_diagram import critical_distance, groups, rank_diagram


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_quantiles_are_those_of_demsar_s_table(k, q):
    n_sets = 14
    assert critical_distance(k, n_sets) == pytest.approx(q * (k * (k + 1) / (6 * n_sets)) ** 0.5, rel=2e-3)


def test_groups_are_maximal_and_leave_single_methods_out():
    ranks = {"d": 4.0, "a": 1.0, "b": 1.6, "c": 1.9}
    assert groups(ranks, 1.0) == [("a", "b", "c")]
    assert groups(ranks, 0.7) == [("a", "b"), ("b", "c")]
    assert groups(ranks, 0.1) == []


def test_the_picture_names_every_method_with_its_rank():
    chart = rank_diagram("Ranks", {"<b>ours": 1.25, "theirs": 1.75}, 8)
    html = chart["variants"][0]["html"]
    assert "&lt;b&gt;ours 1.25" in html
    assert "theirs 1.75" in html
    assert f"critical distance {critical_distance(2, 8):.2f}" in html
    assert "Over 8 data sets" in chart["caption"]
    assert chart["alt"] == "Ranks: <b>ours 1.25, theirs 1.75"
