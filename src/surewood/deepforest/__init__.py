"""Margin deep forests (mdDF), gcForest's cascade, and multi-grained scanning, on one forest engine.

The skeleton that all families share:

* `estimator`, `model_selection`, `scanning`: the public classes;
* `data`: the prepared table; `plan`: from parameters and data to one frozen plan;
* `training`: from plan and data to the frozen fitted `model`; `report_facts`: its charts.

Ideas of its own:

* `forests`, `contrasts`: what stands in a block, and how deep it grows;
* `blocks`: forests or classifiers, cross-fitted, turned into class vectors;
* `margins`: the step by which a layer joins the sum, and the weights of the next one;
* `stopping`: when growing ends and which layer is kept;
* `margin_growth`, `cascade_growth`: the algorithms.
"""

# The classifiers are public in surewood itself.
from surewood.deepforest.estimator import CascadeForestClassifier, MarginDeepForestClassifier  # noqa: F401
from surewood.deepforest.model_selection import MarginDeepForestClassifierCV  # noqa: F401
from surewood.deepforest.scanning import MultiGrainedScanner  # noqa: F401
from surewood.deepforest.stopping import LayerRecord

__all__ = ["LayerRecord"]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.deepforest.blocks.Block",
    "surewood.deepforest.blocks.FoldClassifier",
    "surewood.deepforest.contrasts.ContrastUnits",
    "surewood.deepforest.contrasts._ContrastClassifier",
    "surewood.deepforest.data.InputReader",
    "surewood.deepforest.estimator.CascadeForestClassifier",
    "surewood.deepforest.estimator.MarginDeepForestClassifier",
    "surewood.deepforest.model.CascadeLayer",
    "surewood.deepforest.model.CascadeLayers",
    "surewood.deepforest.model.MarginLayer",
    "surewood.deepforest.model.MarginLayers",
    "surewood.deepforest.model.CascadeForestModel",
    "surewood.deepforest.model.MarginForestModel",
    "surewood.deepforest.model_selection.MarginDeepForestClassifierCV",
    "surewood.deepforest.scanning.Grain",
    "surewood.deepforest.scanning.GrainModel",
    "surewood.deepforest.scanning.MultiGrainedScanner",
    "surewood.deepforest.scanning.ScannerModel",
    "surewood.deepforest.stopping.LayerRecord",
)
