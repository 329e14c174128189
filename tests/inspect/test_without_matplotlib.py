"""Everything but drawing works without matplotlib, and drawing says what is missing."""

import subprocess
import sys

PROGRAM = """
import sys

sys.modules["matplotlib"] = None  # as if it were not installed
sys.modules["matplotlib.pyplot"] = None
from sklearn.datasets import load_iris
from surewood import CompositeTreeClassifier, inspect

X, y = load_iris(return_X_y=True)
model = CompositeTreeClassifier(max_depth=1, C=1.0, random_state=0).fit(X, y)
print(inspect.bound_terms(model)[0].shape[0], inspect.row_degrees(model, X[:1]))
for draw in (
    lambda: inspect.BoundDisplay.from_estimator(model),
    lambda: inspect.CapacityMapDisplay.from_estimator(model, X),
    lambda: inspect.MarginDistributionDisplay.from_estimator(model, X, y),
    lambda: inspect.CascadeFlowDisplay.from_predictions(y, y, y),
    lambda: inspect.LayerGrowthDisplay.from_estimator(model),
):
    try:
        draw()
    except ImportError as error:
        print(error)
"""


def test_without_matplotlib():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    first, *rest = ran.stdout.splitlines()
    assert first == "2 [0.]"
    assert (
        rest
        == [
            "the displays of surewood.inspect draw with matplotlib, which is not installed; "
            "get it with: pip install 'surewood[plots]'"
        ]
        * 5
    )
