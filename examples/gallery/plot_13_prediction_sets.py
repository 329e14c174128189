"""Sets of labels with guaranteed coverage

Instead of one label, `PredictionSets` returns the labels that may be true. At least 90 % of the sets contain
the true label, guaranteed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from surewood import BinnedForestClassifier
from surewood.certify import PredictionSets

X, y = load_digits(return_X_y=True)
model = BinnedForestClassifier(20, max_depth=6, calibrate=True, random_state=0).fit(X[:600], y[:600])
sets = PredictionSets(model, alpha=0.1).fit(X[600:1200], y[600:1200])
sizes = sets.predict_set(X[1200:]).sum(axis=1)
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.bar(*np.unique(sizes, return_counts=True), color="#2e7d4f")
ax.set(xlabel="labels in the set", ylabel="rows")
