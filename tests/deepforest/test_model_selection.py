import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from surewood.deepforest import MarginDeepForestClassifier, MarginDeepForestClassifierCV
from surewood.deepforest.forests import AUTO_BLOCKS, PUBLISHED
from surewood.deepforest.model_selection import PAPER_GRID


def search(**parameters):
    standard = {
        "n_estimators": 3,
        "forests": PUBLISHED,
        "thetas": (0.7, 0.9),
        "schedules": (2, 8),
        "max_layers": 3,
        "cv": 3,
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
        cv=3,
        random_state=0,
    )


def rows_of(model):
    """One dictionary per setting."""
    results = model.cv_results_
    return [{name: values[k] for name, values in results.items()} for k in range(len(results["params"]))]


def test_the_whole_search_equals_fitting_every_setting(data):
    X, y = data
    model = search(study={"halving": None}).fit(X, y)
    settings = rows_of(model)
    assert len(settings) == 4
    for setting in settings:
        alone = fixed(setting["param_theta"], setting["param_depth_schedule"]).fit(X, y)
        assert setting["mean_test_score"] == max(record.score for record in alone.layers_)
        assert setting["n_layers"] == len(alone.layers_)
    best = max(setting["mean_test_score"] for setting in settings)
    assert max(record.score for record in model.layers_) == best == model.best_score_
    assert settings[model.best_index_]["rank_test_score"] == 1
    assert model.best_index_ == model.cv_results_["mean_test_score"].argmax()  # the first of equal ones
    assert settings[model.best_index_]["params"] == model.best_params_
    winner = fixed(model.best_params_["theta"], model.best_params_["depth_schedule"]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), winner.predict_proba(X))


def test_best_params_are_parameters_of_the_plain_forest(data):
    X, y = data
    model = search(forests=[("random", 2), "extra"]).fit(X, y)
    chosen = MarginDeepForestClassifier(3, max_layers=3, cv=3, random_state=0, **model.best_params_)
    np.testing.assert_array_equal(chosen.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_the_results_make_a_frame(data):
    frame = pd.DataFrame(search().fit(*data).cv_results_)
    assert len(frame) == 4
    assert (
        frame.loc[frame["rank_test_score"] == 1, "mean_test_score"].iloc[0] == frame["mean_test_score"].max()
    )


def test_halving_drops_settings_layer_by_layer(data):
    X, y = data
    full, halved = (search(study={"halving": h}, mus=(0.01, 0.1)).fit(X, y) for h in (None, 3.0))
    assert halved.cv_results_["n_layers"].sum() < full.cv_results_["n_layers"].sum()
    assert halved.cv_results_["n_layers"].min() >= 1
    assert halved.n_layers_ >= 1


def test_without_refit_there_is_a_comparison_and_no_model(data):
    X, y = data
    with_model, without = search().fit(X, y), search(refit=False).fit(X, y)
    assert without.best_params_ == with_model.best_params_
    with pytest.raises(NotFittedError):
        without.predict(X)
    with_model.set_params(refit=False).fit(X, y)  # the model of the earlier fit is gone
    assert not hasattr(with_model, "model_")


def test_the_grid_of_the_paper_has_72_settings():
    assert np.prod([len(values) for values in PAPER_GRID.values()]) == 72
    paper = MarginDeepForestClassifierCV.paper(n_estimators=3)
    assert {name: getattr(paper, name) for name in PAPER_GRID} == PAPER_GRID
    assert paper.study == {"reweighting": "literal", "step": "literal", "halving": None}


def test_one_block_per_schedule_is_searched_when_forests_is_auto(data):
    X, y = data
    model = search(forests="auto", schedules=(8, 16)).fit(X, y)
    for schedule in (8, 16):
        blocks = {s["param_forests"] for s in rows_of(model) if s["param_depth_schedule"] == schedule}
        assert len(blocks) == 1
        assert blocks <= set(AUTO_BLOCKS)
    assert tuple(model.best_params_["forests"]) in AUTO_BLOCKS


def test_what_was_compared_is_recorded(data):
    model = search(forests="auto", mus=(0.01, 0.1)).fit(*data)
    assert model.model_.n_compared == 4 * 2 + 2 * 2 * 2 + len(model.layers_)
    model.set_params(thetas=(0.5,))
    assert next(model.__certificate_evidence__()).used_for_selection


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"thetas": ()}, "thetas must be a list of numbers strictly between 0 and 1, got ()."),
        ({"thetas": (1.2,)}, "thetas must be a list of numbers strictly between 0 and 1, got (1.2,)."),
        ({"mus": (0.0,)}, "mus must be a list of numbers above 0 and at most 1, got (0.0,)."),
        ({"schedules": (0,)}, "schedules must be a list of depth schedules: 'auto', integers of at least 1"),
        ({"study": {"halving": 1.0}}, "study['halving'] must be a number above 1 or None, got 1.0."),
    ],
)
def test_bad_grids_say_what_is_wrong(data, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        search(**parameters).fit(*data)
