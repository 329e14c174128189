import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from surewood.deepforest import MarginDeepForestClassifier, MarginDeepForestClassifierCV
from surewood.deepforest.training import search_margin_forest, train_best_setting, train_margin_forest
from tests.deepforest.test_plan import planned

SMALL = {"n_estimators": 3, "max_layers": 2, "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 6, n_informative=4, flip_y=0.1, random_state=0)


def test_the_same_plan_and_data_give_the_same_model(data):
    plan, prepared = planned(MarginDeepForestClassifier(**SMALL), data)
    one, two = (train_margin_forest(plan, prepared) for _ in range(2))
    np.testing.assert_array_equal(one.held_out.scores, two.held_out.scores)
    assert one.forests == two.forests
    fitted = MarginDeepForestClassifier(**SMALL).fit(*data)
    np.testing.assert_array_equal(fitted.held_out_scores_, one.held_out.scores)


def test_what_was_compared_is_in_the_model(data):
    study = {"reweighting": "chosen", "validation_fraction": 0.3}
    plan, prepared = planned(MarginDeepForestClassifier(**SMALL, depth_schedule=8, study=study), data)
    found = train_margin_forest(plan, prepared).comparisons
    assert (found.first_layers, found.settings, found.on_validation_rows) == (4, 1, True)
    assert found.weight_rules == (4 if found.layers > 1 else 1)


def test_numbers_are_kept_only_for_classifiers(data):
    for forests, has_numbers in ((["random"], False), (["random", LogisticRegression()], True)):
        plan, prepared = planned(MarginDeepForestClassifier(**SMALL, forests=forests), data)
        assert (train_margin_forest(plan, prepared).reader.numbers is not None) is has_numbers


def test_a_search_finds_a_setting_and_its_forest(data):
    model = MarginDeepForestClassifierCV(**SMALL, forests=["random"], thetas=(0.7, 0.9), schedules=(2, 4))
    plan, prepared = planned(model, data)
    found = search_margin_forest(plan, prepared)
    grown = train_best_setting(plan, prepared, found)
    best = found.settings[found.best_index]
    assert best.score == max(setting.score for setting in found.settings)
    assert grown.schedule == (best.schedule,)
    assert max(record.score for record in grown.records) == best.score
    assert grown.comparisons.settings == 4
