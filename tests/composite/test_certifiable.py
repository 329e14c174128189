"""Composite forests that earn a guarantee on all their rows ([D-43])."""

import re

import numpy as np
import pandas as pd
import pytest

from surewood import RandomCompositeForestClassifier, load, save
from surewood.base.folds import draw_seed
from surewood.base.subsamples import draw_subsamples
from surewood.base.time_limit import TimeLimit
from surewood.certify import Method, certify
from surewood.composite.data import prepare
from surewood.composite.plan import draw_bags, make_plan, solver_options
from surewood.composite.training import fit_parts
from surewood.tables import begin_fit


def data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def forest(n_estimators=6, **options):
    return RandomCompositeForestClassifier(n_estimators, certifiable=True, random_state=0, **options)


@pytest.mark.parametrize(
    "selection", ["auto", "exact", "theorem", "common_degree", "random_sequences", "random_degree"]
)
def test_two_guarantees_without_a_holdout_that_new_rows_confirm(selection):
    X, y = data(2000)
    model = forest(10, selection=selection).fit(X, y)
    certificate = certify(model)
    assert {entry.method for entry in certificate.guarantees} == {Method.PAC_BAYES, Method.TANDEM}
    assert all(
        "a holdout of 400 of these 2,000 rows would give about" in e.note for e in certificate.guarantees
    )
    assert [entry.n_models for entry in certificate.guarantees] == [1, 1]
    new, labels = data(4000, 1)
    error = (model.predict(new) != labels).mean()
    assert error < certificate.best.value < 0.5
    assert model.held_out_error_ == pytest.approx(error, abs=0.05)


def test_an_ordinary_forest_earns_none():
    X, y = data(300)
    ordinary = RandomCompositeForestClassifier(4, random_state=0).fit(X, y)
    assert certify(ordinary).guarantees == ()


def test_predictions_are_counts_of_votes_and_the_same_on_any_number_of_threads(tmp_path):
    X, y = data(300)
    model = forest().fit(X, y)
    counts = model.predict_proba(X) * 6
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    np.testing.assert_array_equal(forest(n_jobs=2).fit(X, y).predict_proba(X), model.predict_proba(X))
    save(model, tmp_path / "m.surewood")
    assert certify(load(tmp_path / "m.surewood")).to_json() == certify(model).to_json()
    assert model.model_.notes == ("certifiable: votes are not calibrated",)
    assert forest(calibrate=False).fit(X, y).model_.notes == ()


def _one_tree(X, y, estimator, tree):
    """Labels that a tree of the forest gives to fixed places, and its bag."""
    parameters = estimator._parameters()
    inputs = begin_fit(estimator, X, y, merge=False)
    drawn = draw_bags(parameters, inputs, 5)
    prepared = prepare(inputs, solver_options(parameters), drawn=drawn)
    trees = fit_parts(make_plan(parameters, prepared, 5), prepared, TimeLimit(None)).trees
    reader = prepared.reader
    places = begin_fit(estimator, data(500, 9)[0], np.arange(500) % 2, merge=False).table
    labels = trees.labels(reader.matrix(places), reader.design(places))
    return labels[:, tree], drawn


@pytest.mark.parametrize("selection", ["auto", "exact"])
def test_a_tree_is_a_function_of_its_in_bag_rows(selection):
    """Rows outside the bag get other values, missing ones, other labels and a class of their own."""
    X, y = data(300)
    labels = np.array(["a", "c"])[y]
    estimator = forest(3, selection=selection)
    before, drawn = _one_tree(X, labels, estimator, 1)
    outside = ~drawn.in_bag(1)
    changed, other = X.copy(), labels.copy()
    changed[outside] = np.random.default_rng(1).normal(size=(outside.sum(), 4)) * 50
    changed[np.flatnonzero(outside)[0], 2] = np.nan
    other[outside] = np.random.default_rng(2).choice(["a", "b", "c"], outside.sum())
    after, _ = _one_tree(changed, other, estimator, 1)
    names_before, names_after = np.array(["a", "c"])[before], np.array(["a", "b", "c"])[after]
    np.testing.assert_array_equal(names_before, names_after)
    first = _one_tree(X, labels, estimator, 0)[0]
    assert (first != _one_tree(changed, other, estimator, 0)[0] // 2).any()  # it saw some of those rows


def test_out_of_bag_counts_by_hand():
    X, y = data(200)
    model = forest(4, study={"max_samples": 0.6}).fit(X, y)
    inputs = begin_fit(model, X, y)
    (votes, *_) = model.__certificate_evidence__()
    assert set(votes.out_of_bag.sizes) == {60}
    drawn = draw_subsamples(inputs, 0.6, draw_seed(0))
    labels = model.model_.tree_labels(inputs.table, 1)
    for tree in range(4):
        outside = ~drawn.in_bag(tree)
        assert votes.out_of_bag.errors[tree] == (labels[outside, tree] != inputs.y[outside]).sum()


def test_equal_rows_are_drawn_as_rows():
    X, y = data(300)
    X, y = np.r_[X, X[:2]], np.r_[y, y[:2]]
    (evidence, *_) = forest(3).fit(X, y).__certificate_evidence__()
    assert evidence.n_samples == 302
    assert set(evidence.out_of_bag.sizes) == {302 - 50 - 126}


@pytest.mark.parametrize(("options", "sentence"), [
    ({"calibrate": "isotonic"}, "certifiable=True keeps the votes as they are: use calibrate=False."),
    ({"plain_weight": 0.5}, "certifiable=True keeps the votes as they are: use plain_weight=0."),
    (
        {"study": {"leaf_scores": "ovo_votes"}},
        "certifiable=True keeps the votes as they are: use study={'leaf_scores': 'one_hot'}.",
    ),
    (
        {"study": {"bootstrap": True}},
        "certifiable=True draws rows without replacement: use study={'bootstrap': False}.",
    ),
    ({"time_limit": 5.0}, "certifiable=True needs a fixed number of trees: use time_limit=None."),
])  # fmt: skip
def test_what_the_proof_does_not_cover_is_refused(options, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        forest(**options).fit(*data(150))


def test_too_few_rows_and_streamed_tables_are_refused(tmp_path):
    X, y = data(99)
    with pytest.raises(ValueError, match=r"^certifiable=True needs at least 100 rows, got 99\.$"):
        forest().fit(X, y)
    frame = pd.DataFrame(data(200)[0], columns=list("abcd")).assign(y=data(200)[1])
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"^certifiable=True needs a table in memory\.$"):
        forest().fit(str(tmp_path / "t.parquet"), "y")


def test_category_columns_earn_no_guarantee_and_are_named():
    X, y = data(200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = pd.Series(np.where(y == 1, "x", "z")).astype("category")
    certificate = certify(forest(3).fit(frame, y))
    assert certificate.guarantees == ()
    assert any("categories" in withheld.reason for withheld in certificate.withheld)


def test_missing_values_several_classes_and_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    X[rng.random(X.shape) < 0.05] = np.nan
    model = forest(5).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.7
    assert len(certify(model).guarantees) == 2
    weight = np.where(y == 2, 0.0, 1.0)
    weighted = forest(5).fit(X, y, sample_weight=weight)
    assert 2 not in weighted.predict(X)
    heavy = forest(5).fit(X, y, sample_weight=np.where(y == 1, 50.0, 1.0))
    assert (heavy.predict(X) == 1).sum() > (model.predict(X) == 1).sum()
    assert certify(heavy).guarantees == ()


def test_a_preparation_part_of_one_class():
    X, y = data(300)
    y = np.zeros(300, dtype=int)
    y[:3] = 1
    model = forest(4).fit(X, y)
    assert model.predict(X).mean() < 0.05
