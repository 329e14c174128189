"""Forests that earn a guarantee on all their rows ([D-43])."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from surewood import BinnedForestClassifier, load, save
from surewood.base.parameters import checked_parameters
from surewood.base.subsamples import Subsamples, vote_evidence
from surewood.bounds.evidence import VoteEvidence
from surewood.certify import Method, certify
from surewood.tables import begin_fit
from surewood.trees.binning import bin_array
from surewood.trees.forest_plan import make_plan
from surewood.trees.forest_training import grow_certifiable


def data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def forest(**options):
    return BinnedForestClassifier(20, certifiable=True, random_state=0, **options)


def test_two_guarantees_without_a_holdout_that_new_rows_confirm():
    X, y = data(3000)
    model = forest().fit(X, y)
    certificate = certify(model)
    assert {entry.method for entry in certificate.guarantees} == {Method.PAC_BAYES, Method.TANDEM}
    assert all(
        "a holdout of 600 of these 3,000 rows would give about" in e.note for e in certificate.guarantees
    )
    new, labels = data(5000, 1)
    error = (model.predict(new) != labels).mean()
    assert error < certificate.best.value < 0.3
    both = certify(model, new, labels)
    assert any("both hold together" in fact for fact in both.facts)


def test_an_ordinary_forest_earns_none():
    X, y = data()
    assert certify(BinnedForestClassifier(20, oob_score=True, random_state=0).fit(X, y)).guarantees == ()


def test_predictions_are_counts_of_votes_and_the_same_on_any_number_of_threads(tmp_path):
    X, y = data()
    model = forest(oob_score=True).fit(X, y)
    counts = model.predict_proba(X) * 20
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    other = forest(oob_score=True, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert 0.8 < model.oob_score_ < 1.0
    save(model, tmp_path / "m.surewood")
    assert certify(load(tmp_path / "m.surewood")).to_json() == certify(model).to_json()


def test_a_tree_is_a_function_of_its_in_bag_rows():
    X, y = data(300)
    estimator = forest()
    inputs = begin_fit(estimator, X, y)
    plan = replace(make_plan(checked_parameters(estimator), inputs, seed=0), n_trees=3)
    drawn = Subsamples.draw(np.arange(300), 300, None, seed=5)
    matrix = bin_array(X)
    first, _ = grow_certifiable(plan, matrix, inputs, drawn)
    outside = ~drawn.in_bag(1)
    codes = matrix.blocks[0].copy()
    codes[:, outside] = np.random.default_rng(1).integers(0, 255, (4, outside.sum()))
    codes[2, np.flatnonzero(outside)[0]] = 255  # a missing value, too
    labels = inputs.y.copy()
    labels[outside] = 1 - labels[outside]
    changed = replace(matrix, blocks=(codes,), has_missing=np.array([0, 0, 1, 0], dtype=np.uint8))
    second, _ = grow_certifiable(plan, changed, replace(inputs, y=labels), drawn)
    one, two = first.trees(1, 2), second.trees(1, 2)
    np.testing.assert_array_equal(one.nodes, two.nodes)
    assert len(first.nodes) != len(second.nodes)  # other trees saw some of those rows


def test_out_of_bag_counts_by_hand():
    X, y = data(200)
    estimator = forest()
    inputs = begin_fit(estimator, X, y)
    plan = replace(make_plan(checked_parameters(estimator), inputs, seed=0), n_trees=4)
    drawn = Subsamples.draw(np.arange(200), 200, 0.6, seed=5)
    matrix = bin_array(X)
    grown, _ = grow_certifiable(plan, matrix, inputs, drawn)
    labels = grown.votes(matrix)
    evidence, votes = vote_evidence(labels, inputs, drawn, False)
    for tree in range(4):
        outside = ~drawn.in_bag(tree)
        assert not outside[drawn.prepares].any()
        assert evidence.out_of_bag.sizes[tree] == outside.sum() == 60
        assert evidence.out_of_bag.errors[tree] == (labels[outside, tree] != inputs.y[outside]).sum()
    assert np.isnan(votes[drawn.prepares]).all()


def test_equal_rows_are_drawn_as_rows():
    X, y = data(300)
    X, y = np.r_[X, X[:2]], np.r_[y, y[:2]]
    evidence = next(iter(forest().fit(X, y).__certificate_evidence__()))
    assert isinstance(evidence, VoteEvidence)
    assert evidence.n_samples == 302
    assert set(evidence.out_of_bag.sizes) == {302 - 50 - 126}


@pytest.mark.parametrize(("options", "sentence"), [
    ({"calibrate": True}, "certifiable=True keeps the votes as they are: use calibrate=False."),
    ({"warm_start": True}, "certifiable=True keeps the votes as they are: use warm_start=False."),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(options, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        forest(**options).fit(*data())


def test_too_few_rows_are_refused():
    X, y = data(99)
    with pytest.raises(ValueError, match=r"^certifiable=True needs at least 100 rows, got 99\.$"):
        forest().fit(X, y)


def test_category_columns_earn_no_guarantee_and_are_named():
    X, y = data()
    frame = pd.DataFrame(X).assign(c=pd.Series(np.where(y == 1, "a", "b")).astype("category"))
    frame.columns = [str(name) for name in frame.columns]
    certificate = certify(forest().fit(frame, y))
    assert certificate.guarantees == ()
    assert any("categories" in withheld.reason for withheld in certificate.withheld)
