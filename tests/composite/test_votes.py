"""Plain trees beside the composite ones: bags, how many a time limit allows, and their weight."""

import numpy as np

from surewood import RandomCompositeForestClassifier
from surewood.composite.plan import PLAIN_WEIGHTS
from surewood.composite.votes import choose_plain_weight, grow_plain
from tests.composite.composite_samples import OPTIONS, prepared, sample


def test_trees_are_those_of_the_seed():
    data = prepared(*sample(120, seed=1))
    few, more = (grow_plain(data, 2, n, 4, OPTIONS).forest for n in (2, 5))
    np.testing.assert_array_equal(few.nodes, more.trees(0, 2).with_whole_nodes().nodes)


def test_rows_left_out_are_in_no_bag():
    rows = np.arange(40)
    grown = grow_plain(prepared(*sample(120, seed=1)), 2, 3, 4, OPTIONS, rows)
    assert set(grown.bag.rows) <= set(rows.tolist())


def test_without_a_limit_all_are_grown_and_without_time_ten():
    X, y = sample(120, seed=1)
    forest = RandomCompositeForestClassifier(8, plain_weight=0.5, random_state=0)
    assert forest.fit(X, y).model_.plain.n_trees == 40
    assert forest.set_params(time_limit=0.0).fit(X, y).model_.plain.n_trees == 10


def votes(y, accuracy, seed, n_votes=20):
    """Fractions of independent votes that are right with a probability of their own per row."""
    rng = np.random.default_rng(seed)
    hits = rng.binomial(n_votes, np.clip(rng.normal(accuracy, 0.2, len(y)), 0.02, 0.98)) / n_votes
    return np.where(np.eye(2)[y] > 0, hits[:, None], 1 - hits[:, None])


def test_a_clear_winner_takes_the_vote():
    y = np.arange(4000, dtype=np.int32) % 2
    good, poor = votes(y, 0.8, 0), votes(y, 0.5, 1)
    assert choose_plain_weight(good, poor, y) <= 0.1
    assert choose_plain_weight(poor, good, y) == 0.9


def test_equal_kinds_share_the_vote():
    y = np.arange(4000, dtype=np.int32) % 2
    assert choose_plain_weight(votes(y, 0.7, 0), votes(y, 0.7, 1), y) in (0.4, 0.5, 0.6)


def test_rows_count_by_their_weight():
    y = np.arange(600, dtype=np.int32) % 2
    right, wrong = np.eye(2)[y], 1 - np.eye(2)[y]
    first = (np.arange(600) < 300)[:, None]
    composite, plain = np.where(first, right, wrong), np.where(first, wrong, right)
    heavy = np.where(np.arange(600) < 300, 9.0, 1.0)
    assert choose_plain_weight(composite, plain, y, heavy) < 0.5
    assert choose_plain_weight(composite, plain, y, heavy[::-1]) > 0.5


def test_rows_without_votes_do_not_count():
    y = np.zeros(50, dtype=np.int32)
    none = np.full((50, 2), np.nan)
    assert choose_plain_weight(none, none, y) == 0.5
    assert 0.5 in PLAIN_WEIGHTS
