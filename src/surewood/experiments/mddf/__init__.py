"""*A Refined Margin Distribution Analysis for Forest Representation Learning* (theory.md §4).

* :mod:`~surewood.experiments.mddf.data`: the two parts of a repeat;
* :mod:`~surewood.experiments.mddf.methods`: mdDF, its variants and options, gcForest, tuning;
* :mod:`~surewood.experiments.mddf.baselines`: random forest, XGBoost, perceptrons;
* :mod:`~surewood.experiments.mddf.paper`: units and records;
* :mod:`~surewood.experiments.mddf.tables`, `details`: tables, tests, ranks, bars;
* :mod:`~surewood.experiments.mddf.figures`: figures A and B.
"""

from surewood.experiments.mddf.paper import MarginForestPaper

PAPER = MarginForestPaper()

__all__ = ["PAPER", "MarginForestPaper"]
