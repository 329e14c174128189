"""What a run will cost, as the line before its first unit says."""

import pytest

from surewood.experiments.cost import committed_records, cost_sentence, expected_cost
from surewood.experiments.paper import HOMES, Unit, find_paper
from surewood.experiments.protocol import Profile, read_profile


def record(dataset, method, seconds, shared=0.0, profile="standard"):
    return {
        "dataset": dataset, "method": method, "seconds": seconds, "shared_seconds": shared, "profile": profile
    }  # fmt: skip


RECORDS = [
    record("a", "x", 2.0, 10.0),
    record("a", "x", 4.0, 20.0),
    record("a", "y", 1.0, 15.0),
    record("b", "x", 60.0),
]
UNITS = [Unit("a", 0, ("x", "y")), Unit("a", 1, ("x", "y")), Unit("b", 0, ("x", "new"))]


def test_shared_work_counts_once_per_unit_and_methods_by_their_mean():
    cost = expected_cost(UNITS, RECORDS)
    assert cost.seconds == {"a": 2 * (3.0 + 1.0 + 15.0), "b": 60.0}
    assert (cost.total, cost.unknown, cost.profile) == (98.0, 1, "standard")
    assert expected_cost(UNITS, []) is None


TOOK = (
    "1 min 38 s at the pace of the committed records (b 1 min 0 s, a 38.0 s); 1 of the results have no "
    "record to estimate from"
)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("standard", f"p, profile standard: 3 units on 2 data sets, about {TOOK}."),
        (
            "quick",
            "p, profile quick: 3 units on 2 data sets. As many units of profile standard take about "
            f"{TOOK}; quick takes less.",
        ),
    ],
)
def test_the_sentence(profile, words):
    assert cost_sentence("p", UNITS, Profile(profile), expected_cost(UNITS, RECORDS)) == words


def test_another_division_is_named():
    official = Profile("standard", division="official")
    sentence = cost_sentence("p", UNITS, official, expected_cost(UNITS, RECORDS))
    assert sentence.endswith("; those are of the paper's own division, and the official parts are larger.")
    assert committed_records("rcf", "official")


def test_without_records_and_without_units():
    assert cost_sentence("p", UNITS[:1], Profile("full"), None) == (
        "p, profile full: 1 unit on 1 data set; there are no records to estimate the time from."
    )
    assert cost_sentence("p", [], Profile("full"), None).endswith("everything is done.")
    assert cost_sentence("p", UNITS, Profile("full"), expected_cost(UNITS, RECORDS)).endswith(
        "full takes more."
    )


@pytest.mark.parametrize("name", HOMES)
def test_the_committed_records_give_an_estimate(name):
    paper, records = find_paper(name), committed_records(name)
    profile = read_profile(name, records[0]["profile"])
    cost = expected_cost(paper.units(profile, paper.sets), records)
    assert cost.total > 0
    assert set(cost.seconds) <= set(paper.sets)


def test_an_unknown_paper_has_no_records():
    assert committed_records("toy") == []
