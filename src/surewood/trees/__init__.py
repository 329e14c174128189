"""The forest engine: bins, flat trees, and the forests built on them.

* :mod:`~surewood.trees.binning`: from table columns to a ``uint8`` matrix, and
  :mod:`~surewood.trees.binned_tables`: the same in one call;
* :mod:`~surewood.trees.sketch`: quantiles of columns that are seen once, batch by batch;
* :mod:`~surewood.trees.weights`: sample weights as exact integers;
* :mod:`~surewood.trees.bag`: which rows each tree sees;
* :mod:`~surewood.trees.growing`: forests grown on such a matrix, the low-level entry;
* :mod:`~surewood.trees.flat_tree`: the trees themselves, and prediction with them;
* :mod:`~surewood.trees.node_codec`: the bit layout of nodes;
* :mod:`~surewood.trees.checking`: what the core may read;
* :mod:`~surewood.trees.tree_paths`: the splits on the way to a node;
* :mod:`~surewood.trees.joining`: a forest out of batches of trees;
* :mod:`~surewood.trees.tracing`: the way of single rows through trees;
* :mod:`~surewood.trees.tree_shapley`: exact contributions of columns to a forest's class vectors.
"""

from surewood.trees.bag import Bag, make_bag
from surewood.trees.binned_tables import as_table, bin_array, bin_table
from surewood.trees.binning import BinMapper, BinnedMatrix, learn_bins
from surewood.trees.flat_tree import FlatForest
from surewood.trees.growing import Grown, TreeParams, grow_forest, grow_seconds, out_of_bag, share_matrix
from surewood.trees.joining import ForestJoiner
from surewood.trees.tracing import Traces, trace
from surewood.trees.tree_paths import Split
from surewood.trees.tree_shapley import shapley_values

__all__ = [
    "Bag",
    "BinMapper",
    "BinnedMatrix",
    "FlatForest",
    "ForestJoiner",
    "Grown",
    "Split",
    "Traces",
    "TreeParams",
    "as_table",
    "bin_array",
    "bin_table",
    "grow_forest",
    "grow_seconds",
    "learn_bins",
    "make_bag",
    "out_of_bag",
    "shapley_values",
    "share_matrix",
    "trace",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.trees.binning.BinMapper",
    "surewood.trees.flat_tree.FlatForest",
)
