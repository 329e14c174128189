"""First layers out of one pool of forests."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from surewood.deepforest.data import TrainingSet
from surewood.deepforest.first_layer import choose_first_layer, first_layers
from surewood.deepforest.layer_input import InputReader, training_input
from surewood.deepforest.members import AUTO_BLOCKS, parse_members
from surewood.deepforest.plan import MarginPlan, RunOptions
from surewood.trees import as_table

RUN = RunOptions()


@pytest.fixture(scope="module")
def training():
    X, y = load_wine(return_X_y=True)
    table = as_table(X)
    reader = InputReader.learn(table, None, 255, [])
    inputs = training_input(reader.mapper.codes(table), reader.mapper, None)
    return TrainingSet(inputs, y.astype(np.int32), np.unique(y))


def plans(rates=(8, 16)):
    return [
        MarginPlan(members=parse_members(block, 4), schedule=(rate,) * 4, n_folds=3)
        for block in AUTO_BLOCKS
        for rate in rates
    ]


def test_blocks_share_their_forests(training):
    found = {(plan.first_key[0], plan.schedule[0]): fit for plan, fit in first_layers(training, plans(), RUN)}
    assert len(found) == 8
    published, extra, mixed, all_extra = (
        found[tuple((kind, 4) for kind in block), 8] for block in AUTO_BLOCKS
    )
    np.testing.assert_array_equal(published.vectors[2:], extra.vectors[2:])  # the completely random ones
    np.testing.assert_array_equal(published.vectors[:2], mixed.vectors[:2])
    np.testing.assert_array_equal(extra.vectors[:2], mixed.vectors[2:])
    np.testing.assert_array_equal(all_extra.vectors[:2], extra.vectors[:2])
    assert not np.array_equal(all_extra.vectors[1], all_extra.vectors[2])


def test_a_taken_block_predicts_like_its_members(training):
    for _, fit in first_layers(training, plans((8,)), RUN):
        assert fit.block.vectors(training.inputs).shape == (4, training.n_rows, 3)
        assert fit.importances.shape == (13,)
        assert fit.importances.sum() == pytest.approx(1.0)


def test_the_best_held_out_score_is_chosen(training):
    chosen, fit = choose_first_layer(training, plans(), RUN)
    accuracy = {
        id(plan): np.mean(other.vectors.mean(axis=0).argmax(axis=1) == training.y)
        for plan, other in first_layers(training, plans(), RUN)
    }
    assert np.mean(fit.vectors.mean(axis=0).argmax(axis=1) == training.y) == max(accuracy.values())
    assert chosen.first_key in {plan.first_key for plan in plans()}
