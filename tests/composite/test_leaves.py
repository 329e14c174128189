"""Leaves: SVMs trained in chunks and joined, their C, and other classifiers in their place."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import surewood
from surewood import CompositeTreeClassifier, RandomCompositeForestClassifier
from surewood.bounds import massart, split_log_growth
from surewood.cascade import ConstantFamily, EstimatorFamily, GaussianFamily, KernelFamily, TreeFamily
from surewood.composite import leaves
from surewood.composite.growing import TreeRange
from surewood.composite.leaves import join_predictors, tune_C
from surewood.composite.trees import fit_trees
from surewood.svm.dual import solve_many
from tests.composite.composite_samples import prepared, sample, setting


@pytest.fixture(scope="module")
def data():
    return prepared(*sample(150))


def test_joined_predictors_answer_as_before(data):
    groups = [np.arange(60), np.arange(30, 120), np.arange(150)]
    parts = [solve_many(data.gram, [g], data.y, [1, 2], [1.0]).predictor() for g in groups]
    joined = join_predictors(parts)
    assert len(joined.support_rows) == len(np.unique(joined.support_index)) <= data.n_rows
    assign = np.tile(np.arange(6, dtype=np.int32), (data.n_rows, 1))
    alone = [p.predict(data.gram.X, assign[:, :2]) for p in parts]
    assert np.array_equal(joined.predict(data.gram.X, assign), np.concatenate(alone, axis=1))


def test_chunks_change_nothing(data, monkeypatch):
    whole = fit_trees(data, setting(), TreeRange(6, 0))[0]
    monkeypatch.setattr(leaves, "CHUNK_BYTES", 10_000)
    cut = fit_trees(data, setting(), TreeRange(6, 0))[0]
    assert np.array_equal(whole.labels(data.matrix, data.gram.X), cut.labels(data.matrix, data.gram.X))
    assert np.array_equal(whole.leaves.degree, cut.leaves.degree)


def test_tuning_counts_every_row_once():
    data = prepared(*sample(90))
    C, errors = tune_C(data, (1, 2), 0, (1e-3, 1.0))
    assert errors.shape == (2, 2)
    assert (errors <= 90).all()
    assert C[0] in (1e-3, 1.0)


FAMILIES = [
    ConstantFamily(),
    GaussianFamily(),
    TreeFamily(2),
    EstimatorFamily(LinearDiscriminantAnalysis(), complexity=0.21),
]


def classified(n_classes, n=160):
    return make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=1
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("gamma", [1e-3, 0.02, 0.1])
def test_leaves_have_the_minimum_over_all_sequences_of_families(n_classes, gamma):
    """(2.9) with the complexity of a family in the place of that of a degree, all sequences tried."""
    X, y = classified(n_classes)
    model = CompositeTreeClassifier(
        max_depth=2, max_features=2, gamma_scale=gamma, calibrate=False, random_state=3,
        study={"leaves": FAMILIES},
    ).fit(X, y)  # fmt: skip
    Z, leaf, m = (X - X.mean(axis=0)) / X.std(axis=0), model.apply(X)[:, 0], len(X)
    split = split_log_growth(m, 2, X.shape[1])
    charge = [family.rademacher(Z, n_classes) for family in FAMILIES]
    depth = model.ledger(0)["depth"]
    terms = []  # of every leaf and family
    for k in range(leaf.max() + 1):
        rows = leaf == k
        if len(set(y[rows])) == 1:
            penalty = 8 * n_classes * gamma * (massart(depth[k] * split, m) + massart(np.log(2), m))
            terms.append([min(penalty, rows.mean())])
            continue
        members = [family.fit(Z[rows], y[rows], np.ones(rows.sum()), n_classes) for family in FAMILIES]
        wrong = np.array([(one.scores(Z[rows]).argmax(axis=1) != y[rows]).sum() / m for one in members])
        penalty = 8 * n_classes * gamma * (massart(depth[k] * split, m) + np.array(charge))
        terms.append((wrong + np.minimum(penalty, rows.mean() - wrong)).tolist())
    sequences = list(product(*(range(len(row)) for row in terms)))
    scores = [sum(row[k] for row, k in zip(terms, sequence)) for sequence in sequences]
    assert model.criterion_[0] == pytest.approx(min(scores))
    chosen = tuple(max(degree - 1, 0) for degree in model.ledger(0)["degree"])
    assert scores[sequences.index(chosen)] == pytest.approx(min(scores))


def test_rows_are_classified_by_the_members_of_their_leaves():
    X, y = classified(3)
    forest = RandomCompositeForestClassifier(
        4, max_depth=2, study={"leaves": FAMILIES}, gamma_scale=1e-4, calibrate=False, random_state=0
    ).fit(X[:120], y[:120])
    Z = (X - X[:120].mean(axis=0)) / X[:120].std(axis=0)
    ledger, leaf = forest.ledger().set_index(["tree", "leaf"]), forest.apply(X)
    labels = forest.tree_predictions(X)
    for tree in range(4):
        for k in np.unique(leaf[:, tree]):
            rows = leaf[:, tree] == k
            train = np.flatnonzero(rows[:120])
            family = FAMILIES[max(ledger.loc[(tree, k), "degree"] - 1, 0)]
            member = family.fit(Z[train], y[train], np.ones(len(train)), 3)
            assert np.array_equal(labels[rows, tree], member.scores(Z[rows]).argmax(axis=1))
    votes = np.stack([(labels == c).mean(axis=1) for c in range(3)], axis=1)
    assert forest.predict_proba(X) == pytest.approx(votes)


def test_a_polynomial_family_is_charged_what_its_degree_is():
    X, y = classified(2)
    shared = {"max_depth": 1, "gamma_scale": 1e-2, "calibrate": False, "random_state": 0}
    svms = CompositeTreeClassifier(degrees=2, C=1.0, **shared).fit(X, y).ledger(0)
    family = CompositeTreeClassifier(study={"leaves": KernelFamily("poly", 2)}, **shared).fit(X, y).ledger(0)
    assert family["complexity_term"].tolist() == pytest.approx(svms["complexity_term"].tolist())


def test_a_saved_forest_predicts_the_same(tmp_path):
    X, y = classified(3)
    leaves = ["gaussian", "tree", "linear_svm", "logistic"]
    forest = RandomCompositeForestClassifier(5, study={"leaves": leaves}, random_state=0).fit(X, y)
    surewood.save(forest, tmp_path / "forest.surewood")
    loaded = surewood.load(tmp_path / "forest.surewood")
    assert np.array_equal(loaded.predict_proba(X), forest.predict_proba(X))
    assert loaded.explain(X[:1])[0]["trees"][0]["family"] in ("one class", *leaves)


def test_threads_change_nothing():
    X, y = classified(3, 90)
    forest = RandomCompositeForestClassifier(3, study={"leaves": ["gaussian", "tree"]}, random_state=0)
    expected = forest.fit(X, y).predict_proba(X)
    assert np.array_equal(forest.set_params(n_jobs=2).fit(X, y).predict_proba(X), expected)


def test_no_bound_of_svms_is_claimed():
    X, y = classified(2)
    forest = RandomCompositeForestClassifier(3, study={"leaves": ["tree"]}, random_state=0).fit(X, y)
    assert {type(e).__name__ for e in forest.__certificate_evidence__()} == {"EstimateEvidence"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": 1.0}, "C is about SVMs at the leaves"),
        ({"degrees": [1, 2]}, "degrees is about SVMs at the leaves"),
        ({"certifiable": True}, "certifiable is about SVMs at the leaves"),
        ({"study": {"leaves": "tree", "kernel": "homogeneous"}}, "kernel is about SVMs at the leaves"),
        ({"selection": "common_degree"}, "selection='common_degree' is about SVMs"),
        ({"study": {"leaves": "tree", "leaf_scores": "ovo_votes"}}, "leaf_scores='ovo_votes' is about SVMs"),
        ({"study": {"leaves": ["tree", "oak"]}}, "leaves must hold families, or names among"),
    ],
)
def test_what_svms_alone_have_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        RandomCompositeForestClassifier(2, **({"study": {"leaves": ["tree"]}} | changes)).fit(
            *classified(2, 120)
        )
