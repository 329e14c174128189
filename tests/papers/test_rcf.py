"""Random composite forests: divisions, the grid, units and tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier

from papers import rcf
from papers.datasets import Dataset, info
from papers.protocol import Context, Profile, Unit, find_paper, parse_readings, published, read_profile
from papers.rcf import COMPOSITE, DEFAULT, FORESTS, RECOMMENDED, SETS, RcfPaper, numbers, prefix_labels
from papers.rcf.grid import (
    SELECTIONS,
    GridStudy,
    Rule,
    divide,
    divide_official,
    grow_exact,
    preferred,
    rules_of,
    thinned_features,
)
from papers.rcf.tables import (
    NAMES,
    WITH_VALIDATION,
    either_line,
    pooled_choice,
    restricted,
    summarise,
)
from papers.rcf.tables import PROTOCOL as PROTOCOL_METHODS
from papers.readings import OPTIONS, Readings, read_design
from papers.records import pack, read_csv
from surewood.composite.growing import IndexSets, TreeRange, collect_leaves, cut, grow
from surewood.composite.trees import fit_trees
from surewood.tables import TableSchema

DIVISIONS = OPTIONS["rcf"]["division"]


@pytest.mark.parametrize("n", [5, 150, 208, 528, 7494])
def test_parts_are_disjoint_complete_and_of_the_stated_sizes(n):
    parts = divide(n, 3)
    together = np.concatenate([parts.train, parts.evaluated])
    assert sorted(together.tolist()) == list(range(n))
    assert len(parts.test) == -(-n // 5)
    assert abs(len(parts.train) - 0.6 * n) <= 0.5
    assert all((np.diff(part) > 0).all() for part in (parts.train, parts.validation, parts.test))


def test_the_official_test_part_stays_whole():
    split = np.array(["train", "test"] * 20 + ["train"] * 10)
    parts = divide_official(split, 0.25, 1)
    assert parts.test.tolist() == np.flatnonzero(split == "test").tolist()
    assert (len(parts.train), len(parts.validation)) == (22, 8)
    assert set(parts.train) | set(parts.validation) == set(np.flatnonzero(split == "train"))
    assert parts.validation.tolist() != divide_official(split, 0.25, 2).validation.tolist()


def test_the_seed_decides():
    assert divide(100, 1).test.tolist() == divide(100, 1).test.tolist() != divide(100, 2).test.tolist()


@pytest.mark.parametrize("n_features", [4, 10, 24, 60, 256])
def test_thinning_keeps_the_root_of_the_number_of_features(n_features):
    root = int(np.sqrt(n_features) + 0.5)
    whole = thinned_features(n_features, 1)
    assert whole[0] == 1
    assert whole[-1] == n_features
    for every in (2, 3):
        assert root in thinned_features(n_features, every)
        assert set(thinned_features(n_features, every)) < set(whole)


def test_the_order_of_rules_is_the_order_of_preference():
    rules = rules_of(tuple(SELECTIONS), gammas=[1e-3, 1.0], degrees=[3, 1])
    by_method = {method: [rule.value for rule in rules if rule.method == method] for method in SELECTIONS}
    assert by_method == {
        "rcf": [1.0, 1e-3],
        "rcf_sequences": [1.0, 1e-3],
        "rf_svm": [1.0, 3.0],
        "rf_svm_random": [None],
    }


def test_what_was_chosen_has_its_name():
    assert Rule("rcf", 0.1).chosen() == {"gamma": 0.1}
    assert Rule("rf_svm", 3.0).chosen() == {"degree": 3}
    assert Rule("rf_svm_random", None).chosen() == {}


STUDY = {
    "degrees": [1, 2, 4],
    "C": [0.1, 1.0, 10.0],
    "gammas": [1e-4, 1e-3, 1.0],
    "choose_C": "validation",
    "constant_leaves": False,
}
SIZES = {"trees": [3, 5], "depths": [1, 3], "every_r": 2}


def study(changes, seed=3, loader=load_wine, readings=()):
    X, y = loader(return_X_y=True)
    parts = divide(len(y), 11)
    profile = Profile("toy", {**STUDY, **changes}, SIZES, readings=parse_readings("rcf", readings))
    X, y = pd.DataFrame(X), pd.Series(y)
    return GridStudy(X, y, parts, profile, "wine", tuple(SELECTIONS), seed), parts


@pytest.mark.parametrize(
    ("changes", "readings"),
    [
        ({}, []),
        ({"constant_leaves": True}, []),
        ({"choose_C": "cv"}, []),
        ({}, ["kernel=homogeneous", "scaling=[-1, 1]", "growth=raw"]),
        ({}, ["kernel=normalised"]),
        ({}, ["leaf_scores=votes"]),
        ({}, ["bagging=bootstrap"]),
    ],
)
def test_every_point_equals_its_own_fit(changes, readings):
    found, parts = study(changes, readings=readings)
    data, held, _ = found._parts(parts.train, parts.evaluated)
    for f, r in enumerate(found.features):
        for d, depth in enumerate(found.axes.depths):
            for g, rule in enumerate(found.axes.rules):
                base = replace(found._base, max_features=r, max_depth=depth)
                trees = fit_trees(data, rule.setting(base), TreeRange(5, 3))[0]
                scores = "ovo_votes" if "leaf_scores=votes" in readings else "one_hot"
                alone = trees.composite_scores(held.matrix, held.design, scores).argmax(axis=1)
                assert np.array_equal(found.outcomes[f].labels[d, g, 1], alone), (r, depth, rule)


def test_exact_thresholds_tell_apart_what_bins_merge():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.permutation(2000).astype(float), "noise": rng.normal(size=2000)})
    y = pd.Series((X["x"] > 1001.5).astype(int))
    impure = {}
    for name in OPTIONS["rcf"]["thresholds"]:
        profile = Profile("toy", STUDY, SIZES, readings=parse_readings("rcf", [f"thresholds={name}"]))
        parts = divide(len(y), 11)
        found = GridStudy(X, y, parts, profile, "toy", ("rcf",), 3)
        data, held, numbers = found._parts(parts.train, parts.evaluated)
        setting, trees = replace(found._base, max_features=2), TreeRange(1, 3)
        if numbers is None:
            grove = grow(data, setting, trees, 1)
        else:
            grove, nodes = grow_exact(data, setting, trees, 1, numbers)
            assert np.array_equal(nodes[:, 0] == 2, held.y == 1)  # root 0, then low and high values
        sets = IndexSets(data.y, None, 2)
        collect_leaves(grove, cut(grove.topology, 1), sets)
        impure[name] = int((~sets.pure).sum())
        assert 0 <= found.refitted_error(found.choose("rcf")) < 0.05
    assert impure == {"binned": 1, "exact": 0}


def test_exact_trees_are_those_of_the_engine_where_bins_merge_nothing():
    found, parts = study({}, readings=["thresholds=exact"])
    data, held, numbers = found._parts(parts.train, parts.evaluated)
    setting, trees = replace(found._base, max_features=13), TreeRange(2, 3)
    exact, nodes = grow_exact(data, setting, trees, 1, numbers)
    engine = grow(data, setting, trees, 1)
    own = engine.forest.apply(held.matrix)
    for tree in range(2):  # the same two groups of rows, whatever their numbers
        assert len({*zip(exact.assigned[:, tree].tolist(), engine.assigned[:, tree].tolist())}) == 2
        assert len({*zip(nodes[:, tree].tolist(), own[:, tree].tolist())}) == 2
    assert exact.topology.depth.tolist() == [0, 1, 1] * 2


def test_smaller_forests_are_prefixes_and_batches_do_not_matter(monkeypatch):
    whole, _ = study({})
    monkeypatch.setattr("papers.rcf.grid.TREES_PER_BATCH", 2)
    parts, _ = study({})
    for a, b in zip(whole.outcomes, parts.outcomes):
        assert np.array_equal(a.labels, b.labels)
        np.testing.assert_allclose(a.active, b.active)


def test_the_chosen_point_is_the_best_on_validation_and_refits():
    found, parts = study({})
    for method in SELECTIONS:
        point = found.choose(method)
        validation, test = found.errors(method)
        assert point.validation_error == validation.min() / len(parts.validation)
        assert point.test_error * len(parts.test) in test[validation == validation.min()]
    assert 0.0 <= found.refitted_error(found.choose("rcf")) < 0.2


def test_inert_gamma_gives_degree_one_and_no_active_leaf():
    found, _ = study({}, loader=load_iris)
    at = found.axes.rules.index(Rule("rcf", 1.0))
    for outcome in found.outcomes:
        assert (outcome.active[:, at] == 0).all()
        assert (outcome.degree[:, at] <= 1).all()


def test_ties_prefer_more_trees_then_shallow_simple_and_root_f():
    errors = np.ones((3, 2, 2, 2))
    errors[0, 1, 1, 1] = errors[2, 0, 1, 1] = errors[1, 0, 0, 0] = 0
    assert preferred(errors, [1, 4, 16], 16) == (2, 0, 1, 1)


@pytest.mark.parametrize("n", [150, 208, 528, 690, 846, 2007, 4177, 7494])
def test_divisions_have_the_published_sizes(n):
    parts = divide(n, 0)
    assert len(parts.test) == -(-n // 5)
    assert len(parts.train) == round(0.6 * n)
    everything = np.concatenate([parts.train, parts.validation, parts.test])
    assert np.array_equal(np.sort(everything), np.arange(n))


def test_every_second_r_keeps_the_root():
    assert thinned_features(180, 2) == (1, 13, 54, 180)
    assert thinned_features(16, 9) == (4,)


def test_categories_become_codes():
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": pd.Categorical(["y", "x"])})
    np.testing.assert_array_equal(numbers(frame), np.array([[1.5, 1], [2.5, 0]], dtype=np.float32))


def test_the_last_prefix_is_the_whole_forest_and_the_first_a_smaller_one():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    found = prefix_labels(X[::2], y[::2], X[1::2], 2, (3, 8), seed=5, n_jobs=1)
    for size, labels in zip((3, 8), found):
        forest = RandomForestClassifier(8, max_features=2, random_state=5).fit(X[::2], y[::2])
        votes = np.mean([tree.predict_proba(X[1::2]) for tree in forest.estimators_[:size]], axis=0)
        np.testing.assert_array_equal(labels, votes.argmax(axis=1))


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
    plain, refit = rcf._forests(pd.DataFrame(X), pd.Series(y), parts, unit, profile, Context(), 3)
    assert plain["chosen"] == refit["chosen"]
    assert plain["chosen"]["r"] in (1, 2, 4)
    assert plain["chosen"]["trees"] in (5, 10)
    assert 0 <= plain["metrics"]["error"] <= 0.2
    assert np.isclose(plain["metrics"]["error"] * len(parts.test) % 1, 0)


@pytest.mark.parametrize("methods", [FORESTS, RECOMMENDED])
def test_the_official_protocol_tests_on_the_official_test_part(monkeypatch, methods):
    X, y = load_iris(return_X_y=True, as_frame=True)
    split = np.where(np.arange(len(y)) % 3 == 0, "test", "train")
    data = Dataset("toy", X, y, split, {"rcf": "train"}, "")
    monkeypatch.setattr(rcf, "load", lambda name: data)
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


RESULTS = Path(__file__).parents[2] / "papers" / "rcf" / "results.csv"


@pytest.fixture(scope="module")
def records():
    return [record for record in read_csv(RESULTS) if record["protocol"] == "paper"]


@pytest.fixture(scope="module")
def summary(records):
    return summarise(records, read_profile("rcf", records[0]["profile"]))


def test_every_row_fills_its_columns(summary):
    for table in summary["tables"]:
        assert table["rows"], table["name"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"]), table["name"]


def test_the_main_table_has_the_mean_errors(records, summary):
    own = [100 * r["metrics"]["error"] for r in records if (r["dataset"], r["method"]) == ("sonar", "rcf")]
    (row,) = (row for row in summary["tables"][0]["rows"] if row[0] == "sonar")
    assert row[4].startswith(f"{sum(own) / len(own):.2f} ± ")


def test_ranks_of_both_groups_add_up(summary):
    ranks = dict(summary["tables"][-1]["rows"])
    other = [method for method, name in NAMES.items() if name in ranks and method not in PROTOCOL_METHODS]
    assert set(other) >= set(WITH_VALIDATION)
    for group in (PROTOCOL_METHODS, other):
        total = sum(float(ranks[NAMES[method]]) for method in group)
        assert total == pytest.approx(len(group) * (len(group) + 1) / 2, abs=0.03)


def test_missing_sets_are_named_and_not_counted(records):
    fewer = [r for r in records if r["dataset"] == "sonar"]
    found = summarise(fewer, read_profile("rcf", fewer[0]["profile"]))
    (row,) = (row for row in found["tables"][0]["rows"] if row[0] == "vowel")
    assert [row[k] for k in (2, 4, 6, 7, 8)] == ["missing"] * 5
    assert all("of 1 sets" in line or "of 0 sets" in line for line in found["counts"])


def test_a_choice_among_some_gammas_reads_the_counts():
    axes = {"r": [1], "depth": [2], "rule": [0.1, 1.0], "trees": [10]}
    counts = [([1, 2], [5, 1]), ([9, 2], [5, 3])]
    records = [
        {
            "metrics": {"n_validation": 10, "n_test": 10},
            "grid": pack(axes, np.array(v).reshape(1, 1, 2, 1), np.array(t).reshape(1, 1, 2, 1)),
        }
        for v, t in counts
    ]
    assert restricted(records, 4, [0.1, 1.0]).mean == pytest.approx(0.4)  # 0.1 in the first repeat, then 1
    assert restricted(records, 4, [1.0]).mean == pytest.approx(0.2)
    assert restricted([{"metrics": {}}], 4, [0.1]) is None
    assert restricted([], 4, [0.1]) is None
    assert pooled_choice(records, 4).mean == pytest.approx(0.2)  # 1, which has 2 errors on average
    assert pooled_choice([], 4) is None


TARGETS = published("rcf").query("method == 'rcf'").set_index("dataset")["error"]


def record(dataset, error, protocol, method="rcf_refit"):
    metrics = {"error": error / 100}
    return {"dataset": dataset, "repeat": 0, "method": method, "metrics": metrics, "protocol": protocol}


def test_a_set_counts_where_one_protocol_reaches_it():
    names = list(TARGETS.index)
    low = [record(name, TARGETS[name] - 0.1, "paper") for name in names[: 8 - 1]]
    high = [record(name, TARGETS[name] + 0.1, "paper") for name in names[8 - 1 :]]
    assert f": 7 of {len(names)} sets (not " in either_line(low + high)
    assert ": 7 of 7 sets." in either_line(low)
    official = record(names[-1], TARGETS[names[-1]], "official", "surewood")
    assert f": 8 of {len(names)} sets (not " in either_line([*low, *high, official])


def test_other_shares_of_the_rows():
    parts = [divide(100, 0, division) for division in DIVISIONS]
    sizes = [(len(p.train), len(p.validation), len(p.test)) for p in parts]
    assert sizes == [(60, 20, 20), (64, 16, 20), (70, 10, 20)]


def test_bagged_trees_differ_from_trees_on_all_rows():
    """The scale of C is the mean size of the bags of a batch, so prefixes agree only up to that."""
    plain, _ = study({})
    bagged, _ = study({}, readings=["bagging=bootstrap"])
    assert not np.array_equal(plain.outcomes[-1].labels, bagged.outcomes[-1].labels)
    assert bagged.choose("rcf").test_error < 0.2


def test_a_reading_changes_what_svms_see_by_its_formula():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)) * [1, 10, 100, 1000])
    table = TableSchema.learn(X).read(X)
    (raw,) = read_design(Readings(scaling="raw"), table, [table])
    np.testing.assert_allclose(raw, X.to_numpy())
    (unit,) = read_design(Readings(scaling="[-1, 1]"), table, [table])
    np.testing.assert_allclose([unit.min(axis=0), unit.max(axis=0)], [[-1] * 4, [1] * 4])
    (plain,) = read_design(Readings(), table, [table])
    (normalised,) = read_design(Readings(kernel="normalised"), table, [table])
    kernel = (plain @ plain.T / 4 + 1) ** 3
    norms = np.sqrt(np.diag(kernel))
    np.testing.assert_allclose((normalised @ normalised.T) ** 3, kernel / np.outer(norms, norms))
