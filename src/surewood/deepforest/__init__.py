"""Margin deep forests (mdDF), gcForest's cascade, and multi-grained scanning, on one forest engine.

* `members`, `folds`, `row_order`: which forests, which points are held out together, in which order;
* `block`, `tasks`, `custom`: forests or classifiers, cross-fitted, turned into class vectors;
* `layer_input`: what a layer reads;
* `additive`, `reweighting`, `stopping`, `screening`: step, weights, stop rule, confidence gates;
* `margin_growth`, `cascade_growth`: the two algorithms as functions of arrays;
* `base`, `margin_forest`, `cascade_forest`, `model_selection`, `scanning`: the estimators;
* `cost`, `spilling`, `importances`, `evidence`, `records`, `figures`: around them.
"""

from surewood.deepforest.cascade_forest import CascadeForestClassifier
from surewood.deepforest.margin_forest import MarginDeepForestClassifier
from surewood.deepforest.model_selection import PAPER_GRID, MarginDeepForestClassifierCV
from surewood.deepforest.records import LayerRecord
from surewood.deepforest.scanning import MultiGrainedScanner

__all__ = [
    "PAPER_GRID",
    "CascadeForestClassifier",
    "LayerRecord",
    "MarginDeepForestClassifier",
    "MarginDeepForestClassifierCV",
    "MultiGrainedScanner",
]
