"""Units of the cascades' protocol: five folds per shuffle, four methods per fold."""

from sklearn.datasets import load_iris

from surewood.experiments.cascades import paper
from surewood.experiments.cascades.folds import N_FOLDS
from surewood.experiments.cascades.paper import METHODS, SETS, CascadesPaper
from surewood.experiments.flagship import FLAGSHIP
from surewood.experiments.paper import Context, Unit
from surewood.experiments.protocol import read_profile


def test_every_fold_of_every_shuffle_is_a_unit():
    profile = read_profile("cascades", "full")
    units = CascadesPaper().units(profile, SETS)
    assert len(units) == 2 * len(SETS) * N_FOLDS * int(profile.get("shuffles"))
    assert {unit.methods for unit in units} == {METHODS, (FLAGSHIP,)}
    assert units[0].methods == METHODS  # the protocol first
    own = [unit.repeat for unit in units if unit.dataset == "splice" and unit.methods == METHODS]
    assert own == list(range(len(own)))


def test_the_recommended_classifier_is_fitted_to_all_other_folds(monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    monkeypatch.setattr(paper, "data_of", lambda name: (X[y > 0], y[y > 0]))
    (record,) = CascadesPaper().run(Unit("two", 3, (FLAGSHIP,)), read_profile("cascades", "full"), Context())
    assert record["method"] == FLAGSHIP
    assert record["metrics"]["error"] < 0.3
    assert (record["metrics"]["n_train"], record["metrics"]["n_test"]) == (80, 20)
