import pytest

from surewood.deepforest.depth_schedules import AUTO_SCHEDULES, depths, parse_schedules, short


def test_depth_follows_the_schedule():
    assert [depths((2, 4, None, 16), t) for t in (1, 2)] == [[4, 8, None, 32], [6, 12, None, 48]]


def test_auto_compares_two_rates():
    assert parse_schedules("auto", 3) == [(rate,) * 3 for rate in AUTO_SCHEDULES]
    assert parse_schedules([2, None], 2) == [(2, None)]


@pytest.mark.parametrize("bad", [0, 2.5, [1], "deep", True, [1, 0]])
def test_what_is_no_schedule_is_refused(bad):
    with pytest.raises(ValueError, match="one of these for each of the 2 forests, got"):
        parse_schedules(bad, 2)


def test_a_common_rate_is_one_number():
    assert short((4, 4)) == 4
    assert short((None, None)) is None
    assert short((2, 4)) == (2, 4)
