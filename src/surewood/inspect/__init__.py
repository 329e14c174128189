"""Views of a fitted model as scikit-learn style displays, drawn with matplotlib (extra ``plots``).

Each display has ``from_estimator`` (and ``from_predictions`` where predictions suffice) and keeps ``ax_`` and
``figure_``. Beside each stands the function that gives its data as plain arrays; those need no matplotlib.
"""

from surewood.inspect.bound import BoundDisplay, bound_terms
from surewood.inspect.capacity import CapacityMapDisplay, row_degrees
from surewood.inspect.flow import CascadeFlowDisplay, Exit, cascade_flow
from surewood.inspect.growth import LayerGrowthDisplay, layer_table
from surewood.inspect.importance import permutation_importance
from surewood.inspect.margins import MarginDistributionDisplay, staged_margins

__all__ = [
    "BoundDisplay",
    "CapacityMapDisplay",
    "CascadeFlowDisplay",
    "Exit",
    "LayerGrowthDisplay",
    "MarginDistributionDisplay",
    "bound_terms",
    "cascade_flow",
    "layer_table",
    "permutation_importance",
    "row_degrees",
    "staged_margins",
]
