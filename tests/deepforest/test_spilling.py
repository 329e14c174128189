from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from surewood.deepforest.block import BlockPlan, train_block
from surewood.deepforest.layer_input import LayerInput
from surewood.deepforest.members import TreeSettings, parse_members
from surewood.deepforest.spilling import SpillFolder
from surewood.estimators.folds import stratified_folds
from surewood.trees import bin_array


def test_a_stored_block_is_mapped_and_predicts_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    y = y.astype(np.int32)
    inputs = LayerInput(bin_array(X))
    plan = BlockPlan(parse_members(["random", "extra"], 3), [None, None], TreeSettings(), 3)
    block = train_block(inputs, y, stratified_folds(y, 2, 0), plan, seed=0).block
    stored = SpillFolder(tmp_path).store(block, "layer-1")
    np.testing.assert_array_equal(stored.vectors(inputs), block.vectors(inputs))
    assert isinstance(stored.models[0].nodes.base, np.memmap)
    assert len(list(tmp_path.glob("layer-1-forest-1-*.npy"))) > 0


def test_a_temporary_folder_goes_with_its_owner():
    folder = SpillFolder()
    path = Path(folder.path)
    assert path.exists()
    del folder
    assert not path.exists()
