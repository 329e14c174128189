"""Stages: quiet unless asked, one line where there is no terminal, nothing inside a display of others."""

from contextlib import contextmanager

import pytest
from sklearn.datasets import make_moons

import surewood
from surewood.parallel.progress import display, ignore, stage, substeps


def test_quiet_by_default(capsys):
    with stage(0, "growing", 3) as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


def test_one_line_without_a_terminal(capsys):
    with stage(1, "growing", 3) as advance:
        advance(3)
    assert capsys.readouterr().err.startswith("growing: 3 in ")


def test_a_display_without_a_terminal_says_nothing(capsys):
    with display(), stage(1, "outer", 2) as outer:
        with stage(1, "inner", 5) as inner:
            inner(5)
        outer(1)
    assert capsys.readouterr() == ("", "")


def test_an_error_closes_the_stage():
    with pytest.raises(ValueError, match="stop"), display(), stage(1, "growing", 2):
        raise ValueError("stop")
    with stage(0, "after", 1) as advance:
        advance(1)


def test_a_stage_inside_another_leaves_no_line_of_its_own(capsys):
    with stage(1, "outer", 2) as outer, stage(1, "inner", 5) as inner:
        inner(5)
        outer(2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("outer: 2 in ")


def test_stages_nest_on_a_terminal(monkeypatch):
    import io
    import sys

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with stage(1, "outer", 2) as outer, stage(1, "inner", 5) as inner:
        inner(2.5)
        outer(1)
    assert "outer" in sys.stderr.getvalue()


def test_substeps_are_a_part_of_the_stage_and_never_more():
    seen = []
    with substeps(seen.append, 2.0, 4) as one:
        one(1)
        one(0)
        one(7)
        one(1)
    assert seen == [0.5, 1.5]
    with substeps(seen.append, 1.0, 4):
        pass  # nothing was needed of it: done at once
    assert seen == [0.5, 1.5, 1.0]
    with substeps(ignore, 1.0, 4) as one:
        assert one is ignore


@pytest.fixture
def shares(monkeypatch):
    """The fractions that every stage shows, by its name."""
    seen = {}

    @contextmanager
    def shown(name, total):
        done = 0.0

        def advance(steps=1):
            nonlocal done
            done += steps
            seen.setdefault(name, []).append(done / total)

        yield advance

    monkeypatch.setattr("surewood.parallel.progress._shown", shown)
    return seen


@pytest.mark.parametrize(
    ("model", "stages"),
    [
        (
            surewood.DeepCascadeSVMClassifierCV(2, cv=3, study={"max_svms": 20}, random_state=0, verbose=1),
            ["gamma paths of the folds", "held-out scores of the candidates",
             "searching on all rows", "held-out scores of the cascades", "calibrating"],
        ),
        (
            surewood.RandomCompositeForestClassifier(6, random_state=0, verbose=1),
            ["pilot: rounds x depths", "growing trees", "training leaf SVMs", "out-of-bag votes",
             "calibrating"],
        ),
        (
            surewood.MarginDeepForestClassifier(5, max_layers=1, random_state=0, verbose=1),
            ["calibrating"],
        ),
    ],
    ids=["cascade", "rcf", "mddf"],
)  # fmt: skip
def test_the_stages_of_a_fit_end_at_their_total(model, stages, shares):
    model.fit(*make_moons(300, noise=0.3, random_state=0))
    assert set(stages) <= set(shares)
    for name in stages:
        assert max(shares[name]) == pytest.approx(1.0), name
        assert len(shares[name]) > 1 or name in (
            "calibrating",
            "out-of-bag votes",
            "searching on all rows",
        ), name


def test_names_of_stages_show_control_characters(capsys):
    with stage(1, "reading red\x1b[31m\x07.csv", 1):
        pass
    assert capsys.readouterr().err.startswith(r"reading red\x1b[31m\x07.csv: 1 in ")
