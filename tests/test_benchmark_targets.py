"""The table of targets that `python -m benchmarks` prints at its end."""

import pytest

targets = pytest.importorskip("benchmarks.targets")


@pytest.fixture(autouse=True)
def nothing_measured():
    targets.forget()
    yield
    targets.forget()


def line_of(start):
    return next(line for line in targets.lines() if line.work.startswith(start))


def test_every_line_of_the_committed_results_has_a_number_a_reference_and_a_target():
    for line in targets.lines():
        assert all((line.work, line.ours, line.reference, line.ratio, line.target, line.source))
    text = targets.report()
    for work in ("boosted trees", "100,000 x 20", "million rows", "one row", "rank in error",
                 "rank in log-loss", "regret"):  # fmt: skip
        assert work in text


def test_a_number_of_this_run_comes_before_the_recorded_one():
    targets.measured("mixture", 250.0)
    line = line_of("100,000 x 20, three classes, default fit, mixture")
    assert line.ours.startswith("250 s")
    assert line.source == targets.THIS_RUN
    assert line.met is False


def test_the_slowest_table_counts():
    start = "predict_proba of one row through the mixture, from an array"
    assert line_of(start).met is None  # not measured: neither met nor missed
    for ours, peer in ((1.5, 6.0), (2.5, 5.0)):
        targets.measured("an array", ours)
        targets.measured("an array, scikit-learn", peer)
    line = line_of(start)
    assert line.ours == "2.50 ms"
    assert line.met is False
