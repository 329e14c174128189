"""From parameters to a plan."""

from surewood import SurewoodClassifier
from surewood.blend.members import TableSize
from surewood.blend.plan import make_plan


def plan_of(size, **changes):
    return make_plan(SurewoodClassifier(**changes).get_params(), size, seed=5)


def test_members_stand_in_the_order_of_their_value_per_second():
    plan = plan_of(TableSize(500, 5, 2), members=["margin forest", "random forest"])
    assert [member.name for member in plan.members] == ["random forest", "margin forest"]
    assert plan.left_out == {}


def test_named_members_are_fitted_whatever_the_table():
    plan = plan_of(TableSize(500, 5, 200), members=["composite forest"])
    assert [member.name for member in plan.members] == ["composite forest"]


def test_what_does_not_suit_is_left_out_and_recorded():
    plan = plan_of(TableSize(500, 5, 200))
    assert list(plan.left_out) == ["composite forest", "boosted trees"]
    assert "composite forest" not in [member.name for member in plan.members]


def test_memory_is_read_as_text():
    assert plan_of(TableSize(500, 5, 2), max_memory="2MB").max_memory == 2_000_000
    assert plan_of(TableSize(500, 5, 2), calibrate=False).calibration is None


def test_boosting_comes_early_on_large_tables():
    names = [member.name for member in plan_of(TableSize(200_000, 5, 2)).members]
    assert names[:3] == ["random forest", "boosted trees", "composite forest"]
