"""Units and records of the mdDF paper, on small data."""

import json

import numpy as np
import pytest

from surewood.bounds import mcnemar_test
from surewood.datasets import DataError
from surewood.experiments.flagship import FLAGSHIP
from surewood.experiments.mddf import PAPER
from surewood.experiments.mddf import methods as forests
from surewood.experiments.mddf.data import parts_of
from surewood.experiments.mddf.figures import FIGURES
from surewood.experiments.paper import Context, Unit, find_paper
from surewood.experiments.protocol import read_profile
from tests.experiments.mddf.mddf_profiles import METHODS, tiny


def run(dataset="wine", repeat=0, methods=tuple(METHODS), profile=None, **context):
    unit = Unit(dataset, repeat, methods)
    return {r["method"]: r for r in PAPER.run(unit, profile or tiny(), Context(**context))}


@pytest.fixture(scope="module")
def records():
    return run()


def test_every_method_yields_one_record_of_plain_values(records):
    assert list(records) == METHODS
    for record in records.values():
        json.dumps(record)
        assert 0 < record["metrics"]["accuracy"] <= 100
        assert (record["metrics"]["n_train"], record["metrics"]["n_test"]) == (118, 60)


def test_mddf_does_not_differ_from_itself_and_others_are_counted(records):
    own = records["mdDF"]["metrics"]
    assert own["differing"] == own["only_mddf_right"] == own["only_this_right"] == 0
    for record in records.values():
        metrics = record["metrics"]
        ahead = (metrics["only_mddf_right"] - metrics["only_this_right"]) / metrics["n_test"]
        assert own["accuracy"] - metrics["accuracy"] == pytest.approx(100 * ahead)
        assert metrics["differing"] >= metrics["only_mddf_right"] + metrics["only_this_right"]


def test_a_resumed_unit_gives_the_same_records(records):
    left = ("RF", "mdDF-ST")
    again = run(done=frozenset(METHODS) - set(left))
    assert set(again) == {"mdDF", *left}  # mdDF again: its predictions are compared with
    for method in left:
        assert again[method]["metrics"] == records[method]["metrics"]


def test_repeats_of_a_set_without_split_draw_new_parts():
    first, second = (parts_of("wine", repeat, tiny()) for repeat in (0, 1))
    assert first.seeds["split"] != second.seeds["split"]
    assert not first.X.equals(second.X)
    assert len(first.X) == 118
    assert parts_of("wine", 0, tiny()).X.equals(first.X)


def test_thinned_training_parts_keep_all_classes():
    parts = parts_of("wine", 0, tiny(train_rows=30))
    assert len(parts.y) == 30
    assert set(parts.y) == {0, 1, 2}
    assert len(parts.y_test) == 60


def test_tuning_searches_the_profiles_grid():
    profile = tiny(thetas=[0.7, 0.9], mus=[0.05], schedules=[4, 8])
    parts = parts_of("wine", 0, profile)
    tuned = forests.tune(profile, "wine", parts.X, parts.y, 0, 1)
    assert tuned.n_settings == 4
    assert tuned.theta in (0.7, 0.9)
    assert tuned.a in (4, 8)
    fixed = forests.tune(tiny(schedules=[8]), "wine", parts.X, parts.y, 0, 1)
    assert (fixed.theta, fixed.mu, fixed.a, fixed.seconds) == (0.8, 0.05, 8, 0.0)


@pytest.mark.parametrize("option", forests.OPTIONS)
def test_options_differ_from_mddf_in_what_they_say(option):
    tuned = forests.Tuned(0.8, 0.05, 8, 1, 0.0)
    reference = forests.margin_forest("mdDF", tiny(), "wine", tuned, 0, 1).get_params()
    changed = forests.margin_forest(option, tiny(), "wine", tuned, 0, 1).get_params()
    assert {key for key in changed if changed[key] != reference[key]} == set(forests.OPTIONS[option])


def test_mddf_follows_the_decisions():
    tuned = forests.Tuned(0.85, 0.1, 4, 1, 0.0)
    model = forests.margin_forest("mdDF", tiny(), "wine", tuned, 3, 1)
    assert model.forests == ["random", "random", "completely_random", "completely_random"]
    assert model.study == {"reweighting": "literal", "step": "simplex", "patience": 3}
    assert (model.theta, model.mu_loss, model.depth_schedule, model.cv) == (0.85, 0.1, 4, 5)


def test_the_recommended_classifier_is_compared_with_mddf_too():
    record = run(methods=("mdDF", FLAGSHIP))[FLAGSHIP]
    assert record["metrics"]["accuracy"] > 80
    assert record["metrics"]["differing"] >= record["metrics"]["only_this_right"]
    assert record["chosen"]["weights"]


def test_units_of_the_profiles_cover_the_available_sets():
    assert find_paper("mddf") is PAPER
    for name in ("quick", "standard", "full"):
        profile = read_profile("mddf", name)
        units = PAPER.units(profile, PAPER.sets)
        assert {unit.dataset for unit in units} == set(PAPER.sets)
        assert sum(FIGURES in unit.methods for unit in units) == 1
        assert all(len(set(unit.methods)) == len(unit.methods) for unit in units)
        assert all("mdDF" in unit.methods for unit in units)
        known = {*METHODS, FLAGSHIP, *forests.OPTIONS, FIGURES}
        assert all(set(unit.methods) <= known for unit in units)


def test_a_set_that_cannot_be_had_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("SUREWOOD_DATA", str(tmp_path))
    with pytest.raises(DataError, match="'sensit' was not found"):
        run("sensit", methods=("mdDF",))


def test_counts_are_those_of_mcnemar():
    counts = mcnemar_test([1, 1, 0], [1, 0, 0], [1, 1, 1])
    assert (counts.only_first_correct, counts.only_second_correct) == (1, 0)


def test_predictions_do_not_depend_on_threads(records):
    again = run(methods=("mdDF", "gcForest"), n_jobs=2)
    for method, record in again.items():
        assert np.isclose(record["metrics"]["accuracy"], records[method]["metrics"]["accuracy"])
