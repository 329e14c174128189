"""Views of a fitted model as scikit-learn style displays, drawn with matplotlib (extra ``plots``).

Each display has ``from_estimator`` (and ``from_predictions`` where predictions suffice) and keeps ``ax_`` and
``figure_``. Beside each stands the function that gives its data as plain arrays; those need no matplotlib.
"""

from surewood.base.contributions import Contributions
from surewood.base.describing import Exit
from surewood.inspect.displays import (
    BoundDisplay,
    CapacityMapDisplay,
    CascadeFlowDisplay,
    LayerGrowthDisplay,
    MarginDistributionDisplay,
    bound_terms,
    cascade_flow,
    layer_table,
    row_degrees,
    staged_margins,
)
from surewood.inspect.explaining import contributions
from surewood.inspect.importance import Importances, permutation_importances
from surewood.inspect.local_effects import Dependence, Interaction, dependence, interactions

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
    "permutation_importances",
    "row_degrees",
    "staged_margins",
]
