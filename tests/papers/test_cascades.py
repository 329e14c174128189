"""Deep cascades: folds, rules, units and tables."""

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from papers import cascades
from papers.cascades import METHODS, SETS, CascadesPaper
from papers.cascades.folds import (
    N_FOLDS,
    PathRule,
    folds_of,
    paper_choice,
    plain_choice,
    prepare_fold,
    run_fold,
)
from papers.cascades.tables import NAMES, summarise
from papers.flagship import FLAGSHIP
from papers.protocol import Context, Unit, read_profile
from papers.readings import Readings
from papers.records import read_csv


def test_folds_are_even_shuffled_and_seeded():
    fold = folds_of(351, 4)
    sizes = np.bincount(fold, minlength=N_FOLDS)
    assert sizes.max() - sizes.min() <= 1
    assert fold.tolist() == folds_of(351, 4).tolist() != folds_of(351, 5).tolist()
    assert fold.tolist() != (np.arange(351) % N_FOLDS).tolist()


@pytest.fixture(scope="module")
def fold():
    return prepare_fold("wine", 1, degrees=(1, 2), fractions=(0.5,), max_leaves=2)


def test_the_plain_choice_is_one_svm_of_smallest_validation_error(fold):
    path = plain_choice(fold)
    assert path.n_leaves == 1
    errors = [fold.error(type(path)((k,), ()), fold.validation) for k in range(2)]
    assert fold.error(path, fold.validation) == min(errors)


def test_an_inactive_gamma_gives_a_single_leaf(fold):
    assert paper_choice(fold, (1.0,)).path.n_leaves == 1


def test_a_larger_margin_never_prefers_a_worse_plain_svm(fold):
    rule = PathRule(fold, 1e-3)
    careful, eager = rule.choose(1e9), rule.choose(0.0)
    assert careful.n_leaves == 1
    assert fold.error(eager, fold.validation) <= fold.error(careful, fold.validation)


def test_a_fold_has_an_error_for_every_rule(fold):
    row = run_fold(fold)
    for name in ("svm", "paper", "ours", "one_se", "best", "exactly_2"):
        assert math.isnan(row[name]) or 0 <= row[name] <= 1


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
    monkeypatch.setattr(cascades, "data_of", lambda name: (X[y > 0], y[y > 0]))
    (record,) = CascadesPaper().run(Unit("two", 3, (FLAGSHIP,)), read_profile("cascades", "full"), Context())
    assert record["method"] == FLAGSHIP
    assert record["metrics"]["error"] < 0.3
    assert (record["metrics"]["n_train"], record["metrics"]["n_test"]) == (80, 20)


RESULTS = Path(__file__).parents[2] / "papers" / "cascades" / "results.csv"


@pytest.fixture(scope="module")
def records():
    return [record for record in read_csv(RESULTS) if record["protocol"] == "paper"]


def table(records, name):
    found = summarise(records, read_profile("cascades", records[0]["profile"]))["tables"]
    (own,) = (one for one in found if one["name"] == name)
    assert all(len(row) == len(own["columns"]) for row in own["rows"])
    return {row[0]: row for row in own["rows"]}, own["columns"]


def test_the_main_table_has_the_mean_errors_and_their_differences(records):
    rows, columns = table(records, "errors")
    own = [
        r["metrics"]["error"] for r in records if (r["dataset"], r["method"]) == ("german_numeric", "cascade")
    ]
    row = dict(zip(columns, rows["german_numeric"]))
    mean = sum(own) / len(own)
    assert row["cascade, the paper's γ"].startswith(f"{mean:.4f} ± ")
    assert row["difference"] == f"{mean - float(row['published cascade'].split()[0]):+.4f}"


def test_a_set_without_records_is_missing_and_not_counted(records):
    fewer = [r for r in records if r["dataset"] == "german_numeric"]
    rows, columns = table(fewer, "errors")
    named = ("data set", "published SVM", "published cascade", "published depth")
    expected = [name for name in columns if name not in named]
    assert [name for name, value in zip(columns, rows["splice"]) if value == "missing"] == expected
    counts = summarise(fewer, read_profile("cascades", fewer[0]["profile"]))["counts"]
    assert all("of 1 sets" in line for line in counts)


def test_choices_name_every_method_of_a_measured_set(records):
    found = summarise(records, read_profile("cascades", records[0]["profile"]))["tables"][2]["rows"]
    assert {row[1] for row in found} == set(NAMES.values()) - {"SVM"}


def test_ties_may_go_to_more_leaves():
    """At an inert γ every cascade has the same score."""
    fold = prepare_fold("wine", 1, degrees=(1,), fractions=(0.5,), max_leaves=2)
    assert paper_choice(fold, (100.0,)).path.n_leaves == 1
    assert paper_choice(fold, (100.0,), "more leaves").path.n_leaves == 2


def test_other_readings_give_other_folds():
    plain = prepare_fold("wine", 1, degrees=(1, 2), fractions=(0.5,), max_leaves=2)
    readings = Readings(scaling="[0, 1]", kernel="homogeneous", growth="raw")
    other = prepare_fold("wine", 1, 0, readings, degrees=(1, 2), fractions=(0.5,), max_leaves=2)
    assert other.sample.design[other.train].min() == 0.0
    assert (other.plan.kernels.kernel, other.plan.growth) == ("homogeneous", "raw")
    assert plain.plan.kernels.kernel == "poly"


def test_the_printed_growth_charges_nothing_where_it_is_negative():
    readings = Readings(growth="raw, at least 0")
    fold = prepare_fold("wine", 1, 0, readings, degrees=(1, 2, 3), fractions=(0.5,), max_leaves=2)
    m, d = len(fold.train), np.array([14, 105, 560])  # 13 columns
    printed = d * np.log(np.e * m / d)
    assert printed[2] < 0
    assert fold.task.complexity == pytest.approx(np.sqrt(np.maximum(printed, 0.0) / m))
