"""Units of the RCF protocol: every method once per set and repeat, the protocol before the default."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from surewood.experiments.paper import Context, Unit
from surewood.experiments.protocol import Profile, read_profile
from surewood.experiments.rcf import paper as module
from surewood.experiments.rcf.division import divide
from surewood.experiments.rcf.paper import COMPOSITE, DEFAULT, FORESTS, SETS, RcfPaper


def test_units_cover_every_method_and_the_default_comes_last():
    profile = read_profile("rcf", "quick")
    units = RcfPaper().units(profile, SETS)
    per_set = int(profile.get("repeats")) * len((COMPOSITE, FORESTS, DEFAULT))
    assert len(units) == per_set * len(SETS)
    kinds = [unit.methods == DEFAULT for unit in units]
    assert kinds == sorted(kinds)
    assert units[0].dataset == "iris"  # the cheapest


def test_the_forests_record_is_the_error_of_the_chosen_point():
    X, y = load_iris(return_X_y=True)
    parts = divide(len(y), 1)
    profile = Profile("toy", {}, {"forest_trees": [5, 10], "every_r": 1})
    unit = Unit("iris", 0, FORESTS)
    plain, refit = module._forests(pd.DataFrame(X), pd.Series(y), parts, unit, profile, Context(), 3)
    assert plain["chosen"] == refit["chosen"]
    assert plain["chosen"]["r"] in (1, 2, 4)
    assert plain["chosen"]["trees"] in (5, 10)
    assert 0 <= plain["metrics"]["error"] <= 0.2
    assert np.isclose(plain["metrics"]["error"] * len(parts.test) % 1, 0)
