"""Margins by layer

The margin is the score of the true class minus the best other score; later layers push it away from zero.
"""

from sklearn.datasets import load_digits

from surewood import MarginDeepForestClassifier
from surewood.inspect import MarginDistributionDisplay

X, y = load_digits(return_X_y=True)
model = MarginDeepForestClassifier(8, max_layers=3, cv=3, random_state=0).fit(X[:800], y[:800])
MarginDistributionDisplay.from_estimator(model, X[800:1200], y[800:1200])
