"""A limit runs out, can be divided, and may be absent."""

import math
import time

from surewood.base.time_limit import TimeLimit


def test_no_limit_never_ends():
    limit = TimeLimit(None)
    assert (limit.left, limit.is_over, limit.deadline) == (math.inf, False, None)
    assert limit.divided(3).seconds is None


def test_a_limit_runs_out():
    now = time.monotonic()
    limit = TimeLimit(10.0, now - 4.0)
    assert 5.9 < limit.left <= 6.0
    assert limit.deadline == now + 6.0
    assert TimeLimit(10.0, now - 11.0).is_over
    assert TimeLimit(10.0, now - 11.0).left == 0.0


def test_what_is_left_is_divided():
    part = TimeLimit(10.0, time.monotonic() - 4.0).divided(3)
    assert 1.9 < part.left <= 2.0


def test_a_part_is_a_fraction_of_what_is_left():
    assert TimeLimit(None).part(0.5).seconds is None
    assert 40.0 < TimeLimit(100.0).part(0.5).seconds <= 50.0
    assert TimeLimit(0.0).part(0.5).is_over
