"""The short form of `make fuzz-files`: forged model files are refused, or predict."""

import re

import numpy as np

from tests.fuzz.forgeries import changed_array
from tests.fuzz.fuzz_files import run_apart
from tests.persistence import variety
from tests.persistence.test_nodes import LISTED

#: Classes without a number, a text or an array of their own, and parts of studies that no small model has.
EMPTY = {
    "surewood.cascade.binary_trees.SplitMember",
    "surewood.families.ConstantFamily",
    "surewood.families.GaussianFamily",
    "surewood.families.StumpFamily",
    "surewood.deepforest.model.CascadeLayers",
    "surewood.deepforest.scanning.GrainModel",
    "surewood.tables.planning.table_plan.TablePlan",
}
RARE = {
    "surewood.bounds.without_holdout.OutOfBag",
    "surewood.bounds.without_holdout.Tandem",
    "surewood.families.ConstantMember",
    "surewood.families.ThresholdFamily",
}
#: What no reader may believe, and the classes and attributes that say it.
REFUSED = {
    "starts of trees": r"FlatForest\.(node|leaf|category)_start: (first is -1|shorter|last is)",
    "order of trees": r"FlatForest\.node_start: reversed",
    "children and features": r"FlatForest\.nodes: (first is -1|last is the largest)",
    "number of classes": r"(FlatForest|CompositeTrees)\.n_classes: (-1|huge|none)",
    "width of short nodes": r"FlatForest\.word_bits: (-1|huge|none)",
    "leaf weights": r"FlatForest\.leaf_weight: (first is -1|last is the largest)",
    "offsets of bins": r"BinMapper\.offset: (first is -1|reversed|shorter|longer)",
    "thresholds of bins": r"BinMapper\.edges: (NaN|shorter|longer)",
    "number of coefficients": r"Predictor\.(coef|bias|support): (shorter|longer)",
    "coefficients": r"Predictor\.(coef|bias): (NaN|huge)",
    "support rows": r"Predictor\.support: (first is -1|last is the largest)",
    "degree": r"Predictor\.degree: (first is -1|last is the largest)",
    "coefficients of other libraries": r"LogisticRegression\.(coef|intercept)_: (NaN|huge)",
    "leaf of a node": r"CompositeTrees\.leaf_of_node: (last is the largest|shorter)",
    "support vectors of a node": r"CascadeNode\.n_support: (-1|huge|none)",
    "windows": r"(Grain\.(shape|size|stride)|ScannerModel\.n_folds): (-1|none)",
    "thresholds of sets": r"PredictionSets\.thresholds_: (NaN|shorter|longer)",
    "threshold of a decision": r"ThresholdedClassifier\.threshold: (none|a word|not a number)",
    "cost of a decision": r"CostClassifier\.cost: (a word|not a number)",
    "reading of dates": r"ColumnPlan\.(date_parts|date_forms): (none|a word)",
}


def test_forgeries_are_refused_or_harmless():
    found = run_apart(0, 100_000, "--kinds", "quick")
    assert not found.failures
    kinds = {kind for kind, _ in found.verdicts}
    assert len(kinds) > 600
    expected = [name for name in LISTED if name not in EMPTY | RARE]
    assert [name for name in expected if not any(kind.startswith(f"{name}.") for kind in kinds)] == []
    for what, pattern in REFUSED.items():
        matching = [(kind, verdict) for kind, verdict in found.verdicts if re.search(pattern, kind)]
        assert matching, what
        assert [kind for kind, verdict in matching if verdict != "refused"] == [], what


def test_forged_files_are_refused_or_predict():
    found = run_apart(0, 120, "--seed", "25")
    assert not found.failures
    assert sum(found.counts.values()) == 120
    assert found.counts["refused"] > 24  # a fuzzer that changes nothing of weight would prove nothing
    assert found.counts["predicts"] > 12
    loaded = [what for what, _ in found.verdicts]
    assert all(any(f"{name}" in what for what in loaded) for name in variety.names())
    for way in (", path: ", ", r: ", ", c: ", ": pickled array "):
        assert sum(way in what for what in loaded) == 30


def test_a_change_is_a_change():
    rng = np.random.default_rng(0)
    before = np.arange(12, dtype=np.int32).reshape(4, 3)
    changed = 0
    for _ in range(100):
        after = changed_array(before, rng)
        changed += after.dtype != before.dtype or not np.array_equal(after, before)
    assert changed > 80
    assert before.tolist() == np.arange(12).reshape(4, 3).tolist()
