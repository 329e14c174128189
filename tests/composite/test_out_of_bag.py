"""Votes on rows that trees did not see."""

import numpy as np

from surewood.composite import out_of_bag
from surewood.composite.growing import TreeRange, grow
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.out_of_bag import labels_by_blocks, outside_bags, vote_evidence
from surewood.composite.setting import Setting
from surewood.composite.tree_fitting import fit_trees
from tests.composite.composite_samples import prepared, sample

BAGS = Setting(1, 2, (1,), (1.0,), 1e-4, sampling="subsample", n_draws=60)


def test_a_row_is_inside_or_outside_each_bag():
    data = prepared(*sample(100))
    grove = grow(data, BAGS, TreeRange(4, 0), SolverOptions())
    outside = outside_bags(grove, np.arange(100))
    assert (~outside).sum(axis=0).tolist() == [60] * 4
    for tree, bag in enumerate(grove.bags):
        assert np.flatnonzero(~outside[:, tree]).tolist() == bag.tolist()


def test_blocks_of_rows_change_nothing(monkeypatch):
    data = prepared(*sample(100))
    trees = fit_trees(data, BAGS, TreeRange(3, 0), SolverOptions()).trees
    whole = labels_by_blocks(trees, data, SolverOptions())
    monkeypatch.setattr(out_of_bag, "ROWS_PER_BLOCK", 7)
    assert np.array_equal(labels_by_blocks(trees, data, SolverOptions()), whole)
    some = np.array([5, 9, 77])
    assert np.array_equal(labels_by_blocks(trees, data, SolverOptions(), some), whole[some])


def test_evidence_needs_an_unseen_row_for_every_tree():
    data = prepared(*sample(50))
    outside = np.zeros((50, 2), dtype=bool)
    outside[:10, 0] = True
    labels = np.zeros((50, 2), dtype=np.int32)
    assert vote_evidence(data, labels, outside, hard_vote=True, n_settings=1) is None
    outside[5:20, 1] = True
    evidence = vote_evidence(data, labels, outside, hard_vote=True, n_settings=12)
    assert evidence.n_models == 12
    assert evidence.out_of_bag.sizes.tolist() == [10, 15]
    assert evidence.tandem.sizes[0, 1] == 5
    assert not evidence.in_bag_only
