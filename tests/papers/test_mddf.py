"""Margin distribution deep forests: data, methods, units, tables and figures."""

import builtins
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from papers.datasets import DataError
from papers.flagship import FLAGSHIP
from papers.mddf import PAPER
from papers.mddf import methods as forests
from papers.mddf.figures import FIGURES, figure_record, figures
from papers.mddf.methods import (
    IMAGES,
    OPTIONS,
    UNLIMITED,
    VARIANTS,
    AdadeltaPerceptron,
    Tuned,
    as_numbers,
    gc_forest,
    margin_forest,
    parts_of,
    perceptron,
    random_forest,
    scanned,
    tune,
    xgboost,
)
from papers.mddf.program import ProgramForest
from papers.mddf.tables import RANKED, exact_p, summarise
from papers.output import complete_summary, html, markdown
from papers.protocol import Context, PaperError, Unit, find_paper, parse_readings, published, read_profile
from surewood.bounds import mcnemar_test
from surewood.deepforest.data import LayerInput
from surewood.trees.binning import BinnedMatrix, as_table
from tests.papers.toys import METHODS, tiny


def test_a_set_without_an_official_split_is_divided_by_the_repeat():
    first, again, other = (parts_of("wine", repeat, tiny()) for repeat in (0, 0, 1))
    assert len(first.X_test) == len(first.y_test) == 60
    assert len(first.X) + len(first.X_test) == 178
    assert first.X.equals(again.X)
    assert first.seeds == again.seeds != other.seeds
    assert not first.X.equals(other.X)
    assert set(np.unique(first.y)) == {0, 1, 2}


def test_the_training_part_is_thinned_and_the_test_part_is_not():
    whole, thin = parts_of("wine", 0, tiny()), parts_of("wine", 0, tiny(train_rows=30))
    assert len(thin.X) == len(thin.y) == 30
    assert thin.X_test.equals(whole.X_test)
    assert "rows" in thin.seeds


TUNED = Tuned(0.8, 0.05, 8, 1, 0.0)


@pytest.mark.parametrize("method", [*VARIANTS, *OPTIONS])
def test_every_variant_is_a_model_with_its_tuned_values(method):
    model = margin_forest(method, tiny(), "wine", TUNED, seed=3, n_jobs=1)
    assert (model.theta, model.mu_loss, model.random_state) == (0.8, 0.05, 3)
    assert model.n_estimators == 2
    reference = margin_forest("mdDF", tiny(), "wine", TUNED, seed=3, n_jobs=1)
    assert (model.get_params() == reference.get_params()) == (method == "mdDF")


def test_gcforest_has_the_same_forests():
    assert list(gc_forest(tiny(), "wine", 0, 1).forests) == list(tiny().get("forests", "wine"))


def test_a_grid_of_one_point_is_not_searched():
    profile = tiny(thetas=[0.9], mus=[0.1], schedules=[4])
    found = tune(profile, "wine", None, None, 0, 1)
    assert found == Tuned(0.9, 0.1, 4, 1, 0.0)


def test_tuning_returns_a_point_of_the_grid():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    found = tune(tiny(thetas=[0.7, 0.9], mus=[0.05], schedules=[2]), "wine", X, y, 0, 1)
    assert found.theta in (0.7, 0.9)
    assert (found.mu, found.a, found.n_settings) == (0.05, 2, 2)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 4)) + 3 * y[:, None]).astype(np.float32)
    return X, y


def test_numbers_are_standardised_by_the_training_part_and_complete():
    train = pd.DataFrame({"age": [20.0, 40.0, None], "job": ["clerk", "baker", "clerk"]})
    test = pd.DataFrame({"age": [30.0], "job": ["pilot"]})
    numbers, other = as_numbers(train, test)
    assert numbers.dtype == np.float32
    assert np.isfinite(numbers).all()
    assert np.isfinite(other).all()
    assert other.shape[1] == numbers.shape[1]
    assert other[0, 0] == 0.0  # the mean of the training part


def test_the_best_architecture_is_retrained(blobs):
    X, y = blobs
    fitted = perceptron(X, y, X, [[1], [64]], epochs=100, seed=0)
    assert fitted.chosen["architecture"] == "64"
    assert (fitted.predictions == y).mean() > 0.6
    assert 0 < fitted.metrics["validation_accuracy"] <= 100


def test_trees_are_counted(blobs):
    X, y = blobs
    assert random_forest(X, y, X, 7, 0, 1).metrics["trees"] == 7
    assert xgboost(X, y, X, 2, 0, 1).metrics["trees"] == 6  # three classes, two rounds
    assert xgboost(X, (y > 0).astype(int), X, 2, 0, 1).metrics["trees"] == 2


def test_without_xgboost_one_sentence_says_what_to_install(blobs, monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "xgboost":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(PaperError, match=r"pip install 'surewood\[peers\]'"):
        xgboost(*blobs, blobs[0], 2, 0, 1)


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


def record(dataset, method, repeat, accuracy, ahead=(0, 0), **chosen):
    metrics = {
        "accuracy": accuracy,
        "n_train": 1038,
        "n_test": 446,
        "only_mddf_right": ahead[0],
        "only_this_right": ahead[1],
        "differing": sum(ahead),
        "layers": 2,
        "trees": 40,
        "held_out_accuracy": accuracy - 1,
    }
    seeds = {"model": repeat, **({"split": repeat} if dataset == "yeast" else {})}
    return {
        "dataset": dataset,
        "method": method,
        "repeat": repeat,
        "metrics": metrics,
        "chosen": chosen,
        "seeds": seeds,
        "seconds": 1.0,
    }


CHOSEN = {"theta": 0.8, "mu": 0.05, "a": 8, "forests": ["random", "extra"]}


def made_up(shift=0.0):
    """mdDF is best by one point on satimage and yeast; MLP is the worst."""
    records = []
    for dataset, level in (("satimage", 90.0), ("yeast", 60.0)):
        for repeat in range(3):
            for place, method in enumerate(METHODS):
                accuracy = level + shift - 0.5 * place + 0.01 * repeat * (place + 1)
                records.append(record(dataset, method, repeat, accuracy, (5 * place, 2 * place), **CHOSEN))
    return records


def test_ranks_sum_to_what_they_must():
    table = next(t for t in PAPER.summarise(made_up(), tiny())["tables"] if t["name"] == "ranks")
    total = table["columns"].index("sum")
    assert [row[total] for row in table["rows"]] == ["15", "15", "21"]
    assert table["rows"][0][-1] == "yeast, satimage"
    ours = dict(zip(table["columns"], table["rows"][0]))
    assert float(ours["mdDF"]) == 1.0
    assert sum(float(ours[name]) for name in RANKED) == 15.0


def test_published_values_are_those_of_the_paper():
    table = published("mddf")
    assert len(table) == 64
    assert float(table.query("dataset == 'har' and method == 'mdDF'").accuracy.iloc[0]) == 94.6
    means = table.pivot(index="dataset", columns="method", values="accuracy")
    assert (means["mdDF"] == means.max(axis=1)).all()


def test_counts_name_the_sets_that_fall_short():
    high, *_ = PAPER.summarise(made_up(shift=5.0), tiny())["counts"]
    assert high == "mdDF at or above the published mdDF: 2 of 2 sets."
    low, *_ = PAPER.summarise(made_up(shift=-5.0), tiny())["counts"]
    assert low == "mdDF at or above the published mdDF: 0 of 2 sets (not yeast, satimage)."


def test_missing_sets_and_methods_are_marked():
    records = [r for r in made_up() if r["method"] != "XGBoost"]
    summary = complete_summary(PAPER, tiny(seeds=5), [{**r, "profile": "tiny"} for r in records])
    first = summary["tables"][0]
    by_set = {row[0].split()[0]: row for row in first["rows"]}
    assert by_set["mnist"][0] == "mnist (missing)"
    assert by_set["yeast"][0] == "yeast (3 of 5 seeds)"
    assert by_set["yeast"][first["columns"].index("XGBoost")] == "– (59.16)"
    assert by_set["yeast"][first["columns"].index("mdDF")] == "60.01 ± 0.01 (63.34)"
    assert {entry["dataset"] for entry in summary["missing"]} == set(PAPER.sets) - {"yeast", "satimage"}
    text = markdown({**summary, "run": {**summary["run"], "versions": [{"surewood": "0"}]}})
    assert "What differs from the paper" in text
    json.dumps(summary)


def test_tests_are_exact_and_corrected_only_for_random_splits():
    tests = next(t for t in PAPER.summarise(made_up(), tiny())["tables"] if t["name"] == "tests")
    place = {name: k for k, name in enumerate(tests["columns"])}
    rows = {row[0]: row for row in tests["rows"]}
    assert "mdDF" not in rows
    assert f"({exact_p(5, 2):.2g})" in rows["mdDF literal"][place["satimage"]]
    yeast = rows["mdDF literal"][place["yeast"]]
    assert 0 < float(yeast.partition("(")[2][:-1]) < 1
    assert f"({exact_p(5, 2):.2g})" not in yeast


def test_exact_p_of_no_difference_is_one():
    assert exact_p(0, 0) == 1.0
    assert exact_p(5, 0) == 0.0625


def test_options_have_a_table_of_their_own():
    records = [*made_up(), record("yeast", "option: equal weights", 0, 61.0)]
    table = next(t for t in PAPER.summarise(records, tiny())["tables"] if t["name"] == "options")
    assert table["columns"] == ["method", "yeast"]
    assert ["option: equal weights", "60.00 / 61.00"] in table["rows"]


@pytest.fixture(scope="module")
def record_figures():
    parts = parts_of("wine", 0, tiny())
    model = forests.margin_forest("mdDF", tiny(), "wine", forests.Tuned(0.8, 0.05, 8, 1, 0.0), 0, 1)
    return {"dataset": "wine", "repeat": 0, **figure_record(model, parts, 60)}


def test_the_record_has_curves_ratios_and_points(record_figures):
    curves, kept = record_figures["chosen"]["curves"], record_figures["chosen"]["kept"]
    assert len(curves["accuracy"]) == len(curves["margin_ratio"]) == kept
    assert len(curves["held_out_accuracy"]) == len(curves["layer"]) >= kept
    for view in record_figures["figure"]["views"]:
        assert len(view["points"]) == len(view["classes"]) == 60
    for when in ("early", "late"):
        for what in ("view_ratio", "ratio", "scores_view_ratio", "scores_ratio"):
            assert record_figures["metrics"][f"{when}_{what}"] > 0
    assert record_figures["seeds"]["view"] == record_figures["seeds"]["model"]
    json.dumps(record_figures)


def test_both_pictures_are_drawn_with_seed_and_ratios(record_figures):
    first, second = figures([record_figures])
    names = ("held-out accuracy", "test accuracy", "held-out margin ratio", "test margin ratio")
    assert all(name in first["variants"][0]["html"] for name in names)
    assert str(record_figures["seeds"]["view"]) in second["caption"]
    assert f"{record_figures['metrics']['late_view_ratio']:.2f}" in second["caption"]
    assert second["variants"][0]["html"].count("h0") == 120


def test_without_points_the_curves_and_numbers_stay(record_figures):
    small = {
        key: value for key, value in record_figures.items() if key != "figure"
    }  # as read from results.csv
    assert [figure["title"][:8] for figure in figures([small])] == ["Figure A"]
    names = [table["name"] for table in summarise(["har"], [small], tiny())["tables"]]
    assert {"layers", "scatter"} <= set(names)


def test_the_page_has_both_pictures(record_figures):
    summary = {
        "paper": "mddf",
        "title": "mdDF",
        "profile": "tiny",
        "protocol": "paper",
        "missing": [],
        "run": {"records": 1, "seconds": 1.0, "peak_memory_bytes": 0, "versions": [], "commits": []},
        **summarise(["har"], [record_figures], tiny()),
    }
    page = html(summary)
    assert page.count('class="chart"') >= 2
    assert "Figure B: what an early and a late layer read" in page
    drawn = page[page.index('id="figures"') : page.index('id="deviations"')]
    assert "var(--leaf)" in drawn


def test_no_record_no_picture():
    assert figures([{"method": "mdDF"}]) == []
    assert FIGURES == "figures"


def test_readings_change_the_forests():
    settings = ["random_tree_depth=unlimited", "layers=20", "step=literal", "class_vectors=in fold"]
    profile = replace(tiny(), readings=parse_readings("mddf", settings))
    model = margin_forest("mdDF", profile, "wine", TUNED, seed=3, n_jobs=1)
    assert model.depth_schedule == [8, 8, UNLIMITED, UNLIMITED]
    assert (model.max_layers, model.study["step"], model.study["cross_fit"]) == (20, "literal", "in_fold")
    assert gc_forest(profile, "wine", 3, 1).max_layers == 20


def test_the_authors_program_adds_up_layers_that_see_each_forest(blobs):
    X, y = blobs
    model = ProgramForest(trees=3, a=1, n_layers=3).fit(X, y)
    assert [mapper.n_columns for mapper, *_ in model.layers] == [4] + 2 * [4 + 4 * 3]
    deepest = [block.models[1].table(0)["depth"].max() for _, block, _ in model.layers[:2]]
    assert deepest == [1, 2]
    mapper, block, alpha = model.layers[0]
    first = block.vectors(LayerInput(BinnedMatrix.of(mapper.codes(as_table(X)), mapper), None))
    seen = np.hstack([X, *first])  # one layer: each forest's vectors sum to 1
    mapper, block, beta = model.layers[1]
    second = block.vectors(LayerInput(BinnedMatrix.of(mapper.codes(as_table(seen)), mapper), None))
    scores = (alpha * first + beta * second).mean(axis=0)
    model.layers = model.layers[:2]
    assert model.predict(X).tolist() == scores.argmax(axis=1).tolist()


def test_the_authors_program_is_a_reading():
    profile = replace(tiny(schedules=[1, 8]), readings=parse_readings("mddf", ["procedure=program"]))
    unit = Unit("wine", 0, ("mdDF",))
    (record,) = PAPER.run(unit, profile, Context())
    assert record["metrics"]["layers"] == 20
    assert record["metrics"]["accuracy"] > 80
    assert record["chosen"]["a"] == 8


def test_the_scanner_is_for_images_and_the_paper_s_forests(monkeypatch):
    profile = replace(tiny(), readings=parse_readings("mddf", ["scanner=gcForest"]))
    parts = parts_of("wine", 0, profile)
    assert scanned(parts, profile, "wine", 1) is parts
    monkeypatch.setitem(IMAGES, "wine", ((13,), [3]))
    seen = scanned(parts, profile, "wine", 1)
    assert seen.X.shape == (len(parts.X), 6 * 2 * 3)  # positions, forests, classes
    assert seen.X_test.shape[1] == seen.X.shape[1]
    unit = Unit("wine", 0, ("mdDF", "gcForest", "RF"))
    found = {r["method"]: r["metrics"]["accuracy"] for r in PAPER.run(unit, profile, Context())}
    plain = {r["method"]: r["metrics"]["accuracy"] for r in PAPER.run(unit, tiny(), Context())}
    assert found["RF"] == plain["RF"]
    assert found["mdDF"] > 60


def test_adadelta_follows_the_derivatives_of_the_loss(blobs):
    X, y = blobs
    model = AdadeltaPerceptron([5, 4], 1, 0).fit(X, y)
    model.weights = [weight.astype(np.float64) for weight in model.weights]
    _, gradients = model.gradients(X.astype(np.float64), y)
    for weight, gradient in zip(model.weights, gradients):
        at, loss = (1, 2), []
        for move in (-1e-5, 1e-5):
            weight[at] += move
            loss.append(model.gradients(X.astype(np.float64), y)[0])
            weight[at] -= move
        assert gradient[at] == pytest.approx((loss[1] - loss[0]) / 2e-5, abs=1e-6)
    fitted = perceptron(X, y, X, [[1], [16, 8]], 60, 0, "Adadelta")
    assert (fitted.predictions == y).mean() > 0.6
    assert fitted.chosen["architecture"] == "16-8"
    again = perceptron(X, y, X, [[1], [16, 8]], 60, 0, "Adadelta")
    assert np.array_equal(fitted.predictions, again.predictions)
