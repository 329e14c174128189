"""*Learning with Deep Cascades* (theory.md §3): its table on five data sets.

* :mod:`~surewood.experiments.cascades.folds`: one fold of the protocol;
* :mod:`~surewood.experiments.cascades.rules`: how a cascade is chosen on it;
* :mod:`~surewood.experiments.cascades.paper`: units and records;
* :mod:`~surewood.experiments.cascades.summary`: tables, tests and bars.
"""

from surewood.experiments.cascades.paper import CascadesPaper

PAPER = CascadesPaper()

__all__ = ["PAPER", "CascadesPaper"]
