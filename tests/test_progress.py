"""Stages: quiet unless asked, one line where there is no terminal, nothing inside a display of others."""

import pytest

from surewood.progress import display, observe, stage


def test_quiet_by_default(capsys):
    with stage(0, "growing", 3) as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


def test_one_line_without_a_terminal(capsys):
    with stage(1, "growing", 3) as advance:
        advance(3)
    assert capsys.readouterr().err.startswith("growing: 3 in ")


def test_a_display_without_a_terminal_says_nothing(capsys):
    seen = []
    with display(), observe(lambda *step: seen.append(step)), stage(1, "outer", 2) as outer:
        with stage(1, "inner", 5) as inner:
            inner(2)
            inner(3)
        outer(1)
    assert capsys.readouterr() == ("", "")
    assert seen == [("inner", 2, 5), ("inner", 5, 5), ("outer", 1, 2)]


def test_an_error_closes_the_stage():
    with pytest.raises(ValueError, match="stop"), display(), stage(1, "growing", 2):
        raise ValueError("stop")
    with stage(0, "after", 1) as advance:
        advance(1)
