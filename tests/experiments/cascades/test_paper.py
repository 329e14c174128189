"""Units of the cascades' protocol: five folds per shuffle, four methods per fold."""

from surewood.experiments.cascades.folds import N_FOLDS
from surewood.experiments.cascades.paper import METHODS, SETS, CascadesPaper
from surewood.experiments.protocol import read_profile


def test_every_fold_of_every_shuffle_is_a_unit():
    profile = read_profile("cascades", "full")
    units = CascadesPaper().units(profile, SETS)
    assert len(units) == len(SETS) * N_FOLDS * int(profile.get("shuffles"))
    assert {unit.methods for unit in units} == {METHODS}
    own = [unit.repeat for unit in units if unit.dataset == "splice"]
    assert own == list(range(len(own)))
