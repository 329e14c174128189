"""A summary completed with profile, missing sets and facts of the run."""

from dataclasses import replace

from surewood.experiments.summary import complete_summary
from tests.experiments.toy_paper import PROFILE, ToyPaper


def record(dataset, repeat, seconds, **more):
    own = {"dataset": dataset, "repeat": repeat, "method": "plain", "metrics": {"error": 0.1}}
    return {**own, "seconds": seconds, "shared_seconds": 2.0, **more}


def test_sets_without_a_record_are_missing_with_their_reason():
    summary = complete_summary(ToyPaper(), PROFILE, [record("alpha", 0, 1.0)], {"beta": "not found"})
    assert summary["missing"] == [
        {"dataset": "beta", "reason": "not found"},
        {"dataset": "gamma", "reason": "not run"},
    ]
    assert (summary["paper"], summary["profile"], summary["sizes"]) == ("toy", "toy", {"repeats": 2})


def test_shared_time_counts_once_per_unit():
    records = [record("alpha", 0, 1.0), record("alpha", 0, 3.0), record("alpha", 1, 1.0, machine="M")]
    run = complete_summary(ToyPaper(), PROFILE, records)["run"]
    assert run["seconds"] == 1.0 + 3.0 + 1.0 + 2 * 2.0
    assert (run["records"], run["machines"], run["peak_memory_bytes"]) == (3, ["M"], 0)


def test_shared_work_of_one_unit_is_not_lost_to_another_that_shares_nothing():
    records = [record("alpha", 0, 1.0), record("alpha", 0, 1.0) | {"method": "alone", "shared_seconds": 0.0}]
    assert complete_summary(ToyPaper(), PROFILE, records)["run"]["seconds"] == 4.0


def test_records_of_another_protocol_are_left_out():
    records = [record("alpha", 0, 1.0), record("alpha", 1, 1.0, protocol="official")]
    assert complete_summary(ToyPaper(), PROFILE, records)["run"]["records"] == 1
    official = complete_summary(ToyPaper(), replace(PROFILE, division="official"), records)
    assert (official["run"]["records"], official["title"]) == (1, "A toy, official division")


def test_only_the_sets_asked_for_are_shown():
    records = [record("alpha", 0, 1.0), record("gamma", 0, 1.0)]
    summary = complete_summary(ToyPaper(), PROFILE, records, sets=["alpha", "beta"])
    assert {row[0] for row in summary["tables"][0]["rows"]} == {"alpha"}
    assert [absent["dataset"] for absent in summary["missing"]] == ["beta"]
    assert summary["run"]["records"] == 1
