"""State files: plain, whole, and refused where they cannot be right."""

import json

import pytest

from surewood.certify import Monitor, MonitorStateError


@pytest.fixture
def path(tmp_path):
    monitor = Monitor(0.1, holdout_scores=[0.5, 0.9, 1.0])
    monitor.add(errors=[0, 1, 0], scores=[0.7, 0.8, 0.2])
    return monitor.save(tmp_path / "deep" / "monitor.json")


def test_the_file_is_plain_json(path):
    state = json.loads(path.read_text())
    assert state["limit"] == 0.1
    assert state["n_errors"] == 1
    assert sum(state["score_counts"].values()) == 6
    assert [p.name for p in path.parent.iterdir()] == ["monitor.json"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[:50], "is not the state of a monitor, or is cut short"),
        (lambda text: "[]", "is not the state of a monitor"),
        (lambda text: text.replace('"format": 1', '"format": 9'), "has format 9; this surewood reads 1"),
        (lambda text: text.replace('"copies": "count"', '"copies": "never"'), "is damaged: copies"),
        (lambda text: text.replace('"limit": 0.1', '"limit": 7'), "is damaged: at_most must be in"),
        (lambda text: text.replace('"7000"', '"70000"'), "is damaged"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(path, change, words):
    path.write_text(change(path.read_text()))
    with pytest.raises(MonitorStateError, match=words):
        Monitor.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MonitorStateError, match="there is no monitor state"):
        Monitor.load(tmp_path / "none.json")


ODD = (
    None, -1, 2, 0.5, float("nan"), float("inf"), 10**400, 1e308, "x", "", True, [], [1], ["x"], {}, {"1": 1},
    {"x": 1}, {"3": -4}, [{}], [{"kind": "error"}], [{"kind": 3, "rows": "x"}],
)  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=[f"{k}" for k in range(len(ODD))])
def test_a_forged_entry_is_refused_or_harmless(path, value):
    honest = json.loads(path.read_text())
    for name in honest:
        path.write_text(json.dumps({**honest, name: value}))
        try:
            monitor = Monitor.load(path)
        except MonitorStateError:
            continue
        look = monitor.look()
        assert isinstance(str(look), str)
        if monitor.state.limit is not None:
            monitor.add(errors=[0, 1])
        monitor.save(path)
        Monitor.load(path)


def test_a_state_that_nests_without_end_is_refused(path):
    path.write_text("[" * 100_000)
    with pytest.raises(MonitorStateError, match="is not the state of a monitor, or is cut short"):
        Monitor.load(path)
