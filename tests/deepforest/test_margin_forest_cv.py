import numpy as np
import pytest
from sklearn.datasets import make_classification

from surewood.deepforest import PAPER_GRID, MarginDeepForestClassifier, MarginDeepForestClassifierCV
from surewood.deepforest.members import AUTO_BLOCKS, PUBLISHED


def search(**parameters):
    standard = {
        "n_estimators": 3,
        "forests": PUBLISHED,
        "thetas": (0.7, 0.9),
        "schedules": (2, 8),
        "max_layers": 3,
        "n_folds": 3,
        "random_state": 0,
    }
    return MarginDeepForestClassifierCV(**{**standard, **parameters})


@pytest.fixture(scope="module")
def data():
    return make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=0)


def fixed(theta, schedule, mu=0.05):
    return MarginDeepForestClassifier(
        3,
        forests=PUBLISHED,
        theta=theta,
        mu_loss=mu,
        depth_schedule=schedule,
        max_layers=3,
        n_folds=3,
        random_state=0,
    )


def test_the_whole_search_equals_fitting_every_setting(data):
    X, y = data
    model = search(halving=None).fit(X, y)
    assert len(model.settings_) == 4
    for setting in model.settings_:
        alone = fixed(setting.theta, setting.schedule).fit(X, y)
        assert setting.score == max(record.score for record in alone.layers_)
        assert setting.n_layers == len(alone.layers_)
    best = max(setting.score for setting in model.settings_)
    assert max(record.score for record in model.layers_) == best
    winner = fixed(model.best_params_["theta"], model.best_params_["depth_schedule"]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), winner.predict_proba(X))


def test_halving_drops_settings_layer_by_layer(data):
    X, y = data
    full, halved = (search(halving=h, mus=(0.01, 0.1)).fit(X, y) for h in (None, 3.0))
    assert sum(s.n_layers for s in halved.settings_) < sum(s.n_layers for s in full.settings_)
    assert halved.n_layers_ >= 1


def test_the_grid_of_the_paper_has_72_settings():
    assert np.prod([len(values) for values in PAPER_GRID.values()]) == 72
    assert search(**PAPER_GRID).get_params()["thetas"] == PAPER_GRID["thetas"]


def test_one_block_a_schedule_is_searched_when_forests_is_auto(data):
    X, y = data
    model = search(forests="auto", schedules=(8, 16)).fit(X, y)
    for schedule in (8, 16):
        blocks = {setting.forests for setting in model.settings_ if setting.schedule == schedule}
        assert len(blocks) == 1
        assert blocks <= set(AUTO_BLOCKS)
    assert tuple(model.best_params_["forests"]) in AUTO_BLOCKS


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"thetas": ()}, r"thetas must be a list with at least one value, got \(\)"),
        ({"thetas": (1.2,)}, "thetas must be strictly between 0 and 1, got 1.2"),
        ({"mus": (0.0,)}, r"mus must be in \(0, 1\], got 0.0"),
        ({"schedules": (0,)}, "depth_schedule must be a positive integer"),
        ({"halving": 1.0}, "halving must be strictly between 1 and inf, got 1.0"),
    ],
)
def test_bad_grids_say_what_is_wrong(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        search(**parameters).fit(*data)
