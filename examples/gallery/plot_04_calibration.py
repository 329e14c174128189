"""Calibrated probabilities

The vote fractions of a forest are too cautious. `calibrate=True` corrects them with out-of-bag votes; no
rows are spent.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier

X, y = make_classification(4000, n_features=20, n_informative=6, class_sep=1.2, random_state=1)
fig, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
for calibrate, name in [(False, "vote fractions"), (True, "calibrated")]:
    model = BinnedForestClassifier(100, calibrate=calibrate, random_state=0).fit(X[:2000], y[:2000])
    CalibrationDisplay.from_estimator(model, X[2000:], y[2000:], n_bins=10, name=name, ax=ax)
ax.set(xlabel="predicted probability", ylabel="observed frequency")
