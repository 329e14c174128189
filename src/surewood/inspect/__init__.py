"""Views of a fitted model as scikit-learn style displays, drawn with matplotlib (extra ``plots``).

Each display has ``from_estimator`` (and ``from_predictions`` where predictions suffice) and keeps ``ax_`` and
``figure_``. Beside each stands the function that gives its data as plain arrays; those need no matplotlib.
"""

from surewood.inspect.bound import BoundDisplay, bound_terms
from surewood.inspect.capacity import CapacityMapDisplay, row_degrees
from surewood.inspect.contributions import Contributions, contributions
from surewood.inspect.dependence import Dependence, Interaction, dependence, interactions
from surewood.inspect.flow import CascadeFlowDisplay, Exit, cascade_flow
from surewood.inspect.growth import LayerGrowthDisplay, layer_table
from surewood.inspect.importance import Importances, permutation_importance, permutation_importances
from surewood.inspect.margins import MarginDistributionDisplay, staged_margins

__all__ = [
    "BoundDisplay",
    "CapacityMapDisplay",
    "CascadeFlowDisplay",
    "Contributions",
    "Dependence",
    "Exit",
    "Importances",
    "Interaction",
    "LayerGrowthDisplay",
    "MarginDistributionDisplay",
    "bound_terms",
    "cascade_flow",
    "contributions",
    "dependence",
    "interactions",
    "layer_table",
    "permutation_importance",
    "permutation_importances",
    "row_degrees",
    "staged_margins",
]
