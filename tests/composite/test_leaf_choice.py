"""The choice of degrees: columns, candidates, and the SVMs behind them."""

from dataclasses import replace

import numpy as np
import pytest

from surewood.composite.growing import TreeRange, grow
from surewood.composite.leaf_choice import LeafChoice
from surewood.composite.leaf_svms import SolverOptions
from surewood.composite.leaves import IndexSets, collect_leaves, cut
from surewood.composite.setting import Setting
from tests.composite.composite_samples import prepared, sample

SETTING = Setting(2, 2, (1, 2, 3), (1.0, 1.0, 1.0), 1e-4)


@pytest.fixture(scope="module")
def choice():
    data = prepared(*sample(150))
    grove = grow(data, SETTING, TreeRange(4, 0), SolverOptions())
    sets = IndexSets(data.y, data.weight, data.n_classes)
    leaves = collect_leaves(grove.topology, cut(grove.topology, 2), grove.assigned, grove.bags, sets)
    return LeafChoice(data, SETTING, leaves, sets, grove.sample_size(data), seed=0)


def counts(choice, seed=0):
    """Random numbers of correct points, at most the size of the set."""
    total = choice.sets.total
    return np.floor(np.random.default_rng(seed).random((len(total), 3)) * total[:, None])


def test_constant_leaves_come_first(choice):
    correct, at = counts(choice), np.arange(len(choice.leaves))
    with_constants = replace(choice, setting=replace(SETTING, constant_leaves=True))
    terms = with_constants.terms(at, correct)
    assert terms.shape == (len(at), 4)
    assert np.array_equal(terms[:, 1:], choice.terms(at, correct))
    columns = np.zeros(len(at), dtype=np.intp)
    assert with_constants.wanted(at, [columns]) == {}
    assert choice.wanted(at, [columns]) == {int(s): {0} for s in choice.leaves.set_id}


@pytest.mark.parametrize("selection", ["exact", "random_sequences", "random_degree"])
def test_the_final_column_is_among_the_candidates(choice, selection):
    correct, at = counts(choice), np.arange(len(choice.leaves))
    own = replace(choice, setting=replace(SETTING, selection=selection))
    columns = own.columns(at, correct)
    candidates = np.stack(own.candidates(at, correct))
    assert (candidates == columns).any(axis=0).all()


def test_columns_do_not_depend_on_the_first_tree_only_by_name(choice):
    at = np.arange(len(choice.leaves))
    random = replace(choice, setting=replace(SETTING, selection="random_degree"))
    later = replace(random, first_tree=7)
    assert (random.columns(at, counts(choice)) != later.columns(at, counts(choice))).any()
