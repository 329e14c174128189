"""The fitted model: ledgers, nodes, criterion, votes, importances, explanations."""

import numpy as np
import pandas as pd
import pytest

from surewood import CompositeTreeClassifier
from surewood import RandomCompositeForestClassifier as Forest


def test_trees_count_what_they_predict(problem, paper):
    """m+ of the ledger equals the training points that each tree gets right."""
    X, y = problem
    right = (paper.tree_predictions(X) == y[:, None]).sum(axis=0)
    assert right.tolist() == [paper.ledger(t)["correct"].sum() for t in range(15)]


def test_ledger_sums_to_the_sample(problem, paper):
    ledger = paper.ledger()
    assert (ledger.groupby("tree")["points"].sum() == len(problem[1])).all()
    assert (ledger["correct"] + ledger["errors"] == ledger["points"]).all()
    assert (ledger.groupby("tree").size().sum()) == len(ledger)
    assert set(ledger["side"]) <= {"complexity", "sample"}


def test_criterion_is_the_ledgers(paper):
    for tree in (0, 7):
        ledger = paper.ledger(tree)
        m = ledger["points"].sum()
        assert paper.criterion_[tree] == pytest.approx(ledger["errors"].sum() / m + ledger["term"].sum())
    active = (paper.ledger()["side"] == "complexity").mean()
    assert paper.active_leaves_ == pytest.approx(active)


def test_an_inert_gamma_leaves_the_choice_to_the_tie_rule(problem):
    forest = Forest.exact(n_estimators=5, max_depth=3, gamma_scale=1.0, C=1.0, random_state=0).fit(*problem)
    assert set(forest.degrees_histogram_) <= {0, 1}
    assert forest.criterion_ == pytest.approx(1.0, abs=1e-12)


def test_vote_fractions_are_the_trees_votes(problem, paper):
    X, _ = problem
    votes = paper.tree_predictions(X)
    shares = np.stack([(votes == c).mean(axis=1) for c in paper.classes_], axis=1)
    assert np.array_equal(paper.predict_proba(X), shares)


def test_auto_settles_by_out_of_bag_votes(fitted):
    assert 1 <= len(fitted.settings_) <= 3
    assert all(s.sampling == "subsample" for s in fitted.settings_)
    assert 0 <= fitted.plain_weight_ <= 0.9
    assert 0 < fitted.held_out_error_ < 0.6
    assert fitted.model_.n_trees == 24
    held = next(e for e in fitted.__certificate_evidence__() if e.__class__.__name__ == "EstimateEvidence")
    assert held.used_for_selection
    assert held.name == "out-of-bag error"


def test_apply_and_decision_path_agree_with_the_ledger(problem, paper):
    X, _ = problem
    leaves = paper.apply(X)
    sizes = paper.ledger().set_index(["tree", "leaf"])["points"]
    for tree in (0, 5):
        counts = np.bincount(leaves[:, tree], minlength=len(sizes[tree]))
        assert counts.tolist() == sizes[tree].tolist()
    indicator, start = paper.decision_path(X)
    depth = paper.ledger(0).set_index("leaf")["depth"]
    passed = np.asarray(indicator[:, start[0] : start[1]].sum(axis=1)).ravel()
    assert (passed == depth.to_numpy()[leaves[:, 0]] + 1).all()


def test_importances_are_those_of_the_splits(problem, fitted):
    X, y = problem
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    X = np.column_stack([X, np.zeros(len(X))])
    forest = Forest(n_estimators=5, degrees=2, random_state=0).fit(X, y)
    assert forest.feature_importances_[-1] == 0.0


def test_importances_leave_out_splits_below_the_leaves(problem):
    X, y = problem
    cut = Forest(4, selection="exact", max_depth=1, C=1.0, random_state=0, study={"max_leaf_size": 140})
    cut.fit(X, y)
    used = {path.split()[0] for path in cut.ledger()["path"]}
    assert {f"x{j}" for j in np.flatnonzero(cut.feature_importances_)} == used
    plain = Forest(4, selection="exact", max_depth=1, C=1.0, random_state=0, study={"max_leaf_size": None})
    assert cut.feature_importances_ == pytest.approx(plain.fit(X, y).feature_importances_, abs=1e-9)


def test_there_is_no_such_tree(paper):
    with pytest.raises(ValueError, match=r"tree must be below 15, got 15\."):
        paper.ledger(15)
    with pytest.raises(ValueError, match=r"tree must be below 15, got 15\."):
        paper.nodes(15)
    with pytest.raises(TypeError, match=r"tree must be an integer of at least 0, got 'first'\."):
        paper.ledger("first")


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 200)
    x = rng.normal(size=200)
    y = (color == "red") ^ (x > 0.3)
    frame = pd.DataFrame({"x": x, "color": pd.Categorical(color)})
    return CompositeTreeClassifier(max_depth=2, degrees=1, C=1.0, random_state=0).fit(frame, y)


def test_paths_name_columns_and_categories(tree):
    paths = " ".join(tree.ledger()["path"])
    assert "color in" in paths or "color not in" in paths
    assert "x <= " in paths
    assert "x > " in paths


def test_a_path_has_one_split_per_level(tree):
    model = tree.model_
    lengths = [len(path) for path in model.leaf_paths(0)]
    assert lengths == model.trees.leaves.depth.tolist() == tree.ledger()["depth"].tolist()


def test_leaf_nodes_are_those_of_the_ledger(paper):
    for tree in range(3):
        nodes, ledger = paper.nodes(tree), paper.ledger(tree)
        leaves = nodes[nodes["leaf"] >= 0].sort_values("leaf")
        for column in ("points", "errors", "degree", "complexity_term", "side", "depth"):
            assert leaves[column].tolist() == ledger[column].tolist()


def test_inner_nodes_hold_what_their_children_hold(paper):
    nodes = paper.nodes(1)
    assert nodes["parent"][0] == -1
    assert nodes["condition"][0] == "all points"
    for node in nodes["node"][nodes["leaf"] < 0]:
        children = nodes[nodes["parent"] == node]
        assert len(children) == 2
        assert np.isclose(children["points"].sum(), nodes["points"][node])
        assert (children["depth"] == nodes["depth"][node] + 1).all()


def test_conditions_on_the_way_are_the_path(paper):
    nodes, ledger = paper.nodes(2), paper.ledger(2)
    for _, row in nodes[nodes["leaf"] >= 0].iterrows():
        words, at = [], row["node"]
        while nodes["parent"][at] >= 0:
            words.append(nodes["condition"][at])
            at = nodes["parent"][at]
        assert " and ".join(words[::-1]) == ledger["path"][row["leaf"]]


def test_explain_tells_path_leaf_degree_and_vote(problem, paper):
    X, _ = problem
    told = paper.explain(X[3:5])[0]
    assert [tree["vote"] for tree in told["trees"]] == paper.tree_predictions(X[3:4])[0].tolist()
    assert [tree["leaf"] for tree in told["trees"]] == paper.apply(X[3:4])[0].tolist()
    degrees = paper.ledger(tree=0)["degree"]
    assert told["trees"][0]["degree"] == degrees[told["trees"][0]["leaf"]]
    assert told["trees"][0]["path"][0]["feature"].startswith("x")
    assert sum(told["votes"].values()) == pytest.approx(1.0)
