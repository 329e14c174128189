"""Units of the RCF protocol: every method once per set and repeat, the protocol before the default."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from surewood.datasets import Dataset, info
from surewood.experiments.paper import Context, Unit, find_paper
from surewood.experiments.protocol import Profile, read_profile
from surewood.experiments.rcf import paper as module
from surewood.experiments.rcf.division import divide
from surewood.experiments.rcf.paper import COMPOSITE, DEFAULT, FORESTS, RECOMMENDED, SETS, RcfPaper


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


@pytest.mark.parametrize("methods", [FORESTS, RECOMMENDED])
def test_the_official_protocol_tests_on_the_official_test_part(monkeypatch, methods):
    X, y = load_iris(return_X_y=True, as_frame=True)
    split = np.where(np.arange(len(y)) % 3 == 0, "test", "train")
    data = Dataset("toy", X, y, split, {"rcf": "train"}, "", "")
    monkeypatch.setattr(module, "load", lambda name: data)
    sizes = {"forest_trees": [5], "every_r": 1}
    profile = Profile("toy", {"validation": 0.25}, sizes, division="official")
    records = list(RcfPaper().run(Unit("toy", 0, methods), profile, Context()))
    assert [record["method"] for record in records] == list(methods)
    for record in records:
        sizes = [record["metrics"][name] for name in ("n_train", "n_validation", "n_test")]
        assert sizes == [75, 25, 50]
        assert record["metrics"]["error"] < 0.2


def test_small_sets_have_ten_repeats_in_the_standard_profile():
    for name in ("rcf", "cascades", "mddf"):
        profile, paper = read_profile(name, "standard"), find_paper(name)
        for dataset in paper.sets:
            entry = info(dataset)
            rows = {"train": entry.train_rows, "test": entry.test_rows}.get(entry.papers[name], entry.rows)
            if rows < 2000:
                assert len({unit.repeat for unit in paper.units(profile, [dataset])}) >= 10
