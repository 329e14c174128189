"""Boosted trees as a user sees them, and the model behind them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import surewood
from surewood import BoostedTreesClassifier
from surewood.base.parameters import checked_parameters
from surewood.trees.binning import BinnedMatrix
from surewood.trees.boosting import (
    LEAST_MODELS,
    N_FOLDS,
    ROWS_OF_ALL,
    SHAPES,
    boosting_data,
    category_axes,
    choose_rounds,
    grow_model,
    make_plan,
    tempered_loss,
    train,
)
from tests.trees.toy import table


def prepared(n_rows=600, n_classes=3, **parameters):
    """Plan and inputs of the table."""
    estimator = BoostedTreesClassifier(n_jobs=1, random_state=0, **parameters)
    inputs = estimator._begin_fit(*table(n_rows, n_classes), None)
    return make_plan(checked_parameters(estimator), inputs, 0), inputs


@pytest.mark.parametrize("shape", ["symmetric", "leaf-wise"])
def test_it_learns_as_well_as_scikit_learns_boosting(shape):
    X, y = make_classification(1500, 12, n_informative=6, n_classes=3, random_state=0)
    ours = BoostedTreesClassifier(tree_shape=shape, random_state=0).fit(X[:700], y[:700])
    with threadpool_limits(1):
        theirs = HistGradientBoostingClassifier(random_state=0).fit(X[:700], y[:700])
    assert ours.score(X[700:], y[700:]) > theirs.score(X[700:], y[700:]) - 0.01
    assert abs(ours.held_out_error_ - (1 - ours.score(X[700:], y[700:]))) < 0.06


def test_files_hold_it_without_pickle(tmp_path):
    X, y = table(300)
    model = BoostedTreesClassifier(10, random_state=0).fit(X, y)
    path = surewood.save(model, tmp_path / "m")
    np.testing.assert_array_equal(surewood.load(path).predict_proba(X), model.predict_proba(X))


def test_importances_name_the_columns_that_matter():
    X, y = table(600)
    found = BoostedTreesClassifier(30, random_state=0).fit(X.assign(noise=0.0), y).feature_importances_
    assert found.sum() == pytest.approx(1.0)
    assert found[4] == 0.0
    assert found.argmax() in (0, 1)


def test_one_class_is_predicted_for_sure():
    model = BoostedTreesClassifier().fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(model.predict_proba([[3.0]]), [[1.0]])


def test_threads_and_order_of_rows_do_not_matter():
    X, y = table(300)
    order = np.random.default_rng(1).permutation(300)
    models = [
        BoostedTreesClassifier(20, random_state=0, n_jobs=n).fit(X.iloc[rows], y[rows])
        for n, rows in ((1, np.arange(300)), (2, order))
    ]
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_a_time_limit_ends_the_rounds():
    X, y = table(600)
    model = BoostedTreesClassifier(1000, time_limit=0.001, random_state=0, n_jobs=1).fit(X, y)
    assert max(model.n_rounds_) <= 2


def test_a_penalty_makes_smaller_trees():
    X, y = table(600, 2)
    leaves = []
    for scale in (0.0, 0.3, 3.0):
        model = BoostedTreesClassifier(20, gamma_scale=scale, random_state=0).fit(X, y).model_
        leaves.append((len(model.trees.nodes) + model.trees.n_trees) / 2 / max(model.trees.n_trees, 1))
    assert leaves[0] > leaves[1] > leaves[2]


def test_trees_see_enough_of_few_columns_to_find_how_they_act_together():
    X = np.random.default_rng(0).random((1600, 5))
    y = np.sin(4 * X[:, :4]).prod(axis=1) + np.cos(5 * X[:, 1:]).prod(axis=1) > 0.02
    default, half = (
        BoostedTreesClassifier(200, max_features=columns, random_state=0).fit(X[:1000], y[:1000])
        for columns in ("auto", 0.5)
    )
    assert default.score(X[1000:], y[1000:]) > half.score(X[1000:], y[1000:]) + 0.1


def test_a_column_of_identifiers_does_little_harm():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=4000)
    X = pd.DataFrame({"signal": signal, "id": pd.Categorical(rng.integers(0, 60, 4000).astype(str))})
    y = (signal + rng.normal(0, 1, 4000) > 0).astype(int)
    losses = []
    for columns in (["signal"], ["signal", "id"]):
        model = BoostedTreesClassifier(random_state=0, max_features=1.0).fit(X[columns][:800], y[:800])
        losses.append(-np.log(model.predict_proba(X[columns][800:])[np.arange(3200), y[800:]]).mean())
    assert losses[1] < 1.02 * losses[0]


class TestMonotone:
    def data(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(
            {"dose": rng.random(500), "age": rng.random(500), "group": rng.choice(["a", "b"], 500)}
        )
        X["group"] = X["group"].astype("category")
        y = (X["dose"] + 0.3 * np.sin(20 * X["dose"]) + rng.normal(0, 0.3, 500) > 0.5).astype(int)
        return X, y

    @pytest.mark.parametrize("shape", ["symmetric", "leaf-wise"])
    @pytest.mark.parametrize("constraint", [{"dose": 1}, [1, 0, 0]])
    def test_probabilities_never_fall(self, constraint, shape):
        X, y = self.data()
        grid = pd.concat([X.iloc[:1]] * 200, ignore_index=True).assign(dose=np.linspace(0, 1, 200))
        free, bound = (
            BoostedTreesClassifier(monotonic_cst=one, tree_shape=shape, random_state=0).fit(X, y)
            for one in (None, constraint)
        )
        assert np.diff(free.predict_proba(grid)[:, 1]).min() < -1e-3
        assert np.diff(bound.predict_proba(grid)[:, 1]).min() >= -1e-9
        assert bound.score(X, y) > 0.75

    @pytest.mark.parametrize(
        ("constraint", "sentence"),
        [
            ({"weight": 1}, "monotonic_cst names 'weight', which is no column of the table."),
            ({"group": 1}, "monotonic_cst constrains 'group', whose categories have no order."),
            ({"dose": 2}, "monotonic_cst must be -1, 0 or 1 for each column, got 2 for 'dose'."),
            ([1, 0], "monotonic_cst has 2 entries for a table of 3 columns."),
        ],
    )
    def test_what_cannot_be_kept_is_refused_in_one_sentence(self, constraint, sentence):
        X, y = self.data()
        with pytest.raises(ValueError, match=sentence):
            BoostedTreesClassifier(monotonic_cst=constraint).fit(X, y)

    def test_more_classes_are_refused(self):
        X, _ = self.data()
        with pytest.raises(ValueError, match=r"monotonic_cst needs two classes, the table has 3\."):
            BoostedTreesClassifier(monotonic_cst={"dose": 1}).fit(X, np.arange(500) % 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_have_scores_and_the_weightiest_trees(n_classes):
    X, y = table(300, n_classes)
    model = BoostedTreesClassifier(10, random_state=0, calibrate=False).fit(X, y)
    (row,) = model.explain(X.iloc[:1])
    labels = [0, 1, 2] if n_classes == 3 else [1]
    assert list(row["scores"]) == labels
    odds = np.exp(list(row["scores"].values()))
    expected = odds / odds.sum() if n_classes == 3 else odds / (1 + odds)
    np.testing.assert_allclose([row["probabilities"][label] for label in labels], expected)
    sizes = [abs(tree["value"]) for tree in row["weightiest"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 5
    assert {tree["for"] for tree in row["weightiest"]} <= set(labels)


def test_report_facts_and_steps():
    X, y = table(300)
    model = BoostedTreesClassifier(10, random_state=0).fit(X, y)
    figures = {figure["label"]: figure["value"] for figure in model.__report_facts__(None)["figures"]}
    assert figures["models"] == 8
    assert figures["trees"] == sum(model.n_rounds_)
    titles = [step["title"] for step in model.__explanation_steps__(model.explain(X.iloc[:1])[0])]
    assert titles[0].startswith("Scores")
    assert "Splits on the path, by feature" in titles
    assert titles[-1].startswith("The tree with the largest value")


def test_large_tables_have_fewer_models_and_the_least_leaf_is_the_larger_of_both():
    X = np.arange(20_000.0)[:, None]
    for n_rows, n_models in ((10, N_FOLDS), (10_000, ROWS_OF_ALL // 10_000), (20_000, LEAST_MODELS)):
        estimator = BoostedTreesClassifier(min_weight_fraction_leaf=0.1, min_samples_leaf=7)
        inputs = estimator._begin_fit(X[:n_rows], np.arange(n_rows) % 2, None)
        plan = make_plan(checked_parameters(estimator), inputs, 0)
        assert plan.n_models == n_models
        assert plan.min_samples_leaf == max(7, n_rows // 10)


def test_the_models_take_the_shapes_in_turn():
    plan, inputs = prepared(n_estimators=12)
    model = train(plan, inputs)
    leaves = [
        len(
            {
                int(leaf)
                for leaf in model.trees.trees(first, first + 1).apply(model.binned(inputs.table))[:, 0]
            }
        )
        for first in np.cumsum([0, *model.n_rounds[:3]])
    ]
    assert leaves[2] <= 16 < leaves[0] <= 64
    assert leaves[1] <= 16


def test_rounds_have_the_smallest_loss_after_calibration():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    estimator = BoostedTreesClassifier(300, learning_rate=0.3, n_jobs=1, random_state=0)
    inputs = estimator._begin_fit(X, y, None)
    plan, data = make_plan(checked_parameters(estimator), inputs, 0), boosting_data(inputs, 1, 0)
    folds = list(range(8))
    grown = [grow_model(plan, data, SHAPES["auto"][1], k, k, np.inf, np.zeros(1, np.uint8)) for k in folds]
    held_out = [np.flatnonzero(data.fold == k) for k in folds]
    n_rounds, scores = choose_rounds(grown, data, held_out)
    truth = inputs.y[np.concatenate(held_out)]

    def loss(log_odds):  # at the best of many temperatures, pulled towards 1 by one row
        return min(
            np.logaddexp(0, np.where(truth == 1, -1, 1) * t * log_odds).mean() + np.log(t) ** 2 / 800
            for t in np.geomspace(0.1, 4, 200)
        )

    chosen = loss(np.concatenate(scores)[:, 0])
    assert tempered_loss(np.concatenate(scores), truth) == pytest.approx(chosen, abs=1e-4)
    for n in range(1, max(model.trees.n_trees for model in grown), 3):
        other = np.concatenate([scores_after(model, n, data, rows) for model, rows in zip(grown, held_out)])
        assert chosen < loss(other) + 0.004
    assert n_rounds < max(model.trees.n_trees for model in grown)


def scores_after(model, n_rounds, data, rows):
    """Scores of some rows after a number of rounds, leaf by leaf."""
    trees = model.trees.trees(0, n_rounds)
    matrix = BinnedMatrix.of(np.ascontiguousarray(data.matrix.blocks[0][:, rows]), data.mapper)
    leaves = trees.node_start[:-1] + trees.apply(matrix).astype(np.int64)
    return model.values[leaves, 0].astype(np.float64).sum(axis=1) + model.baseline[0]


def test_every_row_is_held_out_once_but_the_only_one_of_its_class():
    rng = np.random.default_rng(0)
    estimator = BoostedTreesClassifier(5, random_state=0)
    data = estimator._begin_fit(rng.normal(size=(51, 2)), [0] * 30 + [1] * 20 + [2], None)
    held_out = data.expand(estimator._fit_table(estimator._parameters(), data))
    assert np.isnan(held_out[-1]).all()
    assert not np.isnan(held_out[:-1]).any()


def test_held_out_probabilities_are_those_of_models_without_the_row():
    plan, inputs = prepared(n_estimators=40, calibrate=False)
    model = train(plan, inputs)
    held_out = model.held_out
    truth = held_out[np.arange(600), inputs.y]
    fitted = model.probabilities(inputs.table, 1)
    assert np.log(truth).mean() < np.log(fitted[np.arange(600), inputs.y]).mean()
    assert model.held_out_error == pytest.approx((held_out.argmax(1) != inputs.y).mean())


def test_with_two_rows_there_is_a_model_and_nothing_held_out():
    model = BoostedTreesClassifier(random_state=0)
    data = model._begin_fit(np.array([[0.0], [1.0]]), [0, 1], None)
    held_out = model._fit_table(model._parameters(), data)
    assert np.isnan(held_out).all()
    assert np.isnan(model.held_out_error_)


def test_categories_stand_in_the_order_of_their_frequencies_without_the_rows_own_fold():
    _, inputs = prepared(n_classes=2)
    data = boosting_data(inputs, 1, 0)
    axes = category_axes(data, held=3)
    assert [axis.column for axis in axes] == [1, 3]
    codes, training = data.codes[1], data.fold != 3

    def frequencies(rows):
        rows = rows & (codes != 255)
        hits, total = (np.bincount(codes[chosen], minlength=8) for chosen in (rows & (inputs.y == 1), rows))
        return (hits + 10 * inputs.y[rows].mean()) / (total + 10)

    everything = frequencies(training)
    np.testing.assert_array_equal(np.argsort(np.argsort(everything)), axes[0].rank)
    middles = np.convolve(np.sort(everything), [0.5, 0.5], "valid")
    for fold in range(8):
        own = (data.fold == fold) & (codes != 255)
        expected = np.searchsorted(middles, frequencies(training & (data.fold != fold)))
        np.testing.assert_array_equal(axes[0].codes[own], expected[codes[own]])
    assert (axes[0].codes[codes == 255] == 255).all()


@pytest.mark.parametrize("shape", [0, 1])
def test_scores_of_a_model_are_sums_of_the_values_of_its_leaves(shape):
    plan, inputs = prepared(n_estimators=12, calibrate=False)
    plan = replace(plan, shapes=plan.shapes[shape : shape + 1])
    model = train(plan, inputs)
    assert model.trees.category_left.size > 0
    matrix = model.binned(inputs.table)
    leaves = model.trees.apply(matrix).astype(np.int64)
    values = model.values[model.trees.node_start[:-1] + leaves].astype(np.float64)
    np.testing.assert_allclose(model.scores(matrix, 1), values.sum(axis=1) + model.baseline, rtol=1e-12)
    few = model.binned(inputs.table.take(np.arange(3)))  # too few rows to look for symmetric trees
    np.testing.assert_array_equal(model.scores(few, 1), model.scores(matrix, 1)[:3])


def test_losses_are_those_of_the_held_out_rows():
    plan, inputs = prepared(n_estimators=10)
    data = boosting_data(inputs, 1, 0)
    grown = grow_model(plan, data, plan.shapes[0], 2, 0, np.inf, np.zeros(1, dtype=np.uint8))
    model = train(replace(plan, shapes=plan.shapes[:1]), inputs)
    single = replace(
        model, trees=grown.trees, values=grown.values, baseline=grown.baseline,
        n_rounds=np.array([grown.trees.n_trees]), calibrator=None,
    )  # fmt: skip
    rows = np.flatnonzero(data.fold == 2)
    loss = -np.log(single.probabilities(inputs.table.take(rows), 1))
    own = np.eye(3, dtype=bool)[inputs.y[rows]]
    failure = np.where(own, np.inf, loss).min(axis=1).mean()
    assert len(grown.losses) == grown.trees.n_trees + 1
    assert grown.losses[-1] == pytest.approx((loss[own].sum() + failure) / (len(rows) + 1), abs=1e-5)


@pytest.fixture(scope="module")
def fitted():
    plan, inputs = prepared(300, n_estimators=10)
    return train(plan, inputs)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: {"values": m.values[:-1]},
        lambda m: {"values": m.values[:, :-1]},
        lambda m: {"values": np.full_like(m.values, np.nan)},
        lambda m: {"values": m.values.astype(np.float64)},
        lambda m: {"baseline": m.baseline[:2]},
        lambda m: {"baseline": np.full_like(m.baseline, np.inf)},
        lambda m: {"importances": m.importances[:1]},
        lambda m: {"n_rounds": m.n_rounds + 1},
        lambda m: {"trees": m.trees.trees(0, 3)},
        lambda m: {"trees": m.trees.with_short_nodes()},
    ],
)
def test_parts_that_do_not_belong_together_are_refused(fitted, change):
    with pytest.raises(ValueError, match=r"must"):
        replace(fitted, **change(fitted))


def test_evidence_is_an_estimate_chosen_on_its_rows(fitted):
    (evidence,) = fitted.evidence()
    assert evidence.used_for_selection
    assert evidence.n == 300
