"""Margin deep forests (mdDF), gcForest's cascade, and multi-grained scanning, on one forest engine.

The skeleton that all families share:

* `estimator`, `cascade_forest`, `model_selection`, `scanning`: the public classes; `base`, `parameters`: what
  they share;
* `plan`: from parameters and data to one frozen plan; `data`: the prepared table;
* `training`: from plan and data to the frozen fitted `model`;
* `explaining`, `cost`, `evidence`, `report_facts`, `explanation_steps`: what a model tells about itself;
* `old_form`: model files of older versions.

Ideas of its own:

* `members`, `depth_schedules`, `folds`, `row_order`: which forests, how deep, which points are held out
  together, in which order;
* `block`, `tasks`, `fold_classifiers`, `contrast_classifier`, `contrast_units`, `wide_tables`: forests or
  classifiers, cross-fitted, turned into class vectors;
* `layer_input`, `margin_layers`, `cascade_layers`: what a layer reads, and how layers predict;
* `additive`, `reweighting`, `stopping`, `screening`: step, weights, stop rule, confidence gates;
* `first_layer`, `margin_growth`, `cascade_growth`, `growth_log`, `search`: the algorithms as functions of
  arrays;
* `spilling`, `importances`, `records`, `figures`, `window_views`, `window_forests`: around them.
"""

from surewood.deepforest.cascade_forest import CascadeForestClassifier
from surewood.deepforest.estimator import MarginDeepForestClassifier
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

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.deepforest.block.Block",
    "surewood.deepforest.cascade_forest.CascadeForestClassifier",
    "surewood.deepforest.cascade_layers.CascadeLayer",
    "surewood.deepforest.cascade_layers.CascadeLayers",
    "surewood.deepforest.contrast_classifier._ContrastClassifier",
    "surewood.deepforest.contrast_units.ContrastUnits",
    "surewood.deepforest.estimator.MarginDeepForestClassifier",
    "surewood.deepforest.fold_classifiers.FoldClassifier",
    "surewood.deepforest.fold_classifiers.NumberReader",
    "surewood.deepforest.layer_input.InputReader",
    "surewood.deepforest.margin_layers.MarginLayer",
    "surewood.deepforest.margin_layers.MarginLayers",
    "surewood.deepforest.members.Member",
    "surewood.deepforest.model.CascadeForestModel",
    "surewood.deepforest.model.HeldOut",
    "surewood.deepforest.model.MarginForestModel",
    "surewood.deepforest.model_selection.MarginDeepForestClassifierCV",
    "surewood.deepforest.records.Comparisons",
    "surewood.deepforest.records.LayerRecord",
    "surewood.deepforest.reweighting.WeightRule",
    "surewood.deepforest.scanning.MultiGrainedScanner",
    "surewood.deepforest.search.SettingRecord",
    "surewood.deepforest.window_forests.GrainModel",
    "surewood.deepforest.window_forests.ScannerModel",
    "surewood.deepforest.window_views.Grain",
)
