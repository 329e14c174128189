"""What each layer of a deep forest adds

Accuracy, margin ratio, step size and effective sample size by layer.
"""

from sklearn.datasets import load_digits

from surewood import MarginDeepForestClassifier
from surewood.inspect import LayerGrowthDisplay

X, y = load_digits(return_X_y=True)
model = MarginDeepForestClassifier(8, max_layers=4, cv=3, random_state=0).fit(X[:800], y[:800])
LayerGrowthDisplay.from_estimator(model, X[800:1200], y[800:1200])
