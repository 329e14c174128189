"""*Random Composite Forests* (theory.md §2): its table on eleven data sets.

* :mod:`~surewood.experiments.rcf.division`: random parts and the grid of r;
* :mod:`~surewood.experiments.rcf.rules`: how leaves get degrees, method by method;
* :mod:`~surewood.experiments.rcf.walk`: one pass over the grid of all of them;
* :mod:`~surewood.experiments.rcf.grid_study`: one division, and what validation chooses on it;
* :mod:`~surewood.experiments.rcf.baseline`: the random forest;
* :mod:`~surewood.experiments.rcf.paper`: units and records;
* :mod:`~surewood.experiments.rcf.summary`: tables, tests and bars;
* :mod:`~surewood.experiments.rcf.either_protocol`: the bar over the paper's and the official division.
"""

from surewood.experiments.rcf.paper import RcfPaper

PAPER = RcfPaper()

__all__ = ["PAPER", "RcfPaper"]
