"""Reject what is uncertain

`reject_option` predicts only where the error is guaranteed to be small. Accepting fewer rows makes fewer
errors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from surewood import DeepCascadeSVMClassifier

X, y = make_moons(1500, noise=0.3, random_state=0)
cascade = DeepCascadeSVMClassifier(random_state=0).fit(X[:500], y[:500])
curve = cascade.reject_option(0.1, X[500:], y[500:], bands=8).curve()
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.step(curve["coverage"], curve["error"], where="pre", color="#2e7d4f", label="error of accepted rows")
ax.set(xlabel="fraction of rows accepted", ylabel="error", xlim=(0, 1), ylim=(0, None))
ax.legend(frameon=False)
