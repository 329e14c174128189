"""The bar over both protocols."""

from surewood.experiments.protocol import published
from surewood.experiments.rcf.either_protocol import NEEDED, either_bar

TARGETS = published("rcf").query("method == 'rcf'").set_index("dataset")["error"]


def record(dataset, error, protocol, method="rcf_refit"):
    metrics = {"error": error / 100}
    return {"dataset": dataset, "repeat": 0, "method": method, "metrics": metrics, "protocol": protocol}


def test_a_set_counts_where_one_protocol_reaches_it():
    names = list(TARGETS.index)
    low = [record(name, TARGETS[name] - 0.1, "paper") for name in names[: NEEDED - 1]]
    high = [record(name, TARGETS[name] + 0.1, "paper") for name in names[NEEDED - 1 :]]
    assert either_bar(low + high)["met"] is False
    assert either_bar(low)["met"] is None
    official = record(names[-1], TARGETS[names[-1]], "official", "surewood")
    found = either_bar([*low, *high, official])
    assert found["met"] is True
    assert found["found"].startswith(f"{NEEDED} of {len(names)} measured sets (not ")
