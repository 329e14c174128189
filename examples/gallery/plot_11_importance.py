"""Feature importance

Permutation importance on held-out rows: how much the accuracy drops when a column is shuffled.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.inspection import permutation_importance

from surewood import BinnedForestClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
model = BinnedForestClassifier(50, random_state=0).fit(X[::2], y[::2])
found = permutation_importance(model, X[1::2], y[1::2], n_repeats=10, random_state=0)
order = found.importances_mean.argsort()
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.barh(X.columns[order], found.importances_mean[order], xerr=found.importances_std[order], color="#2e7d4f")
ax.set(xlabel="drop in accuracy")
