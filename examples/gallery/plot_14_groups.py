"""The error in every group

`error_by` guarantees the error in all groups at once. Small groups get wide limits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier
from surewood.certify import Claim, certify

X, y = make_classification(4000, n_informative=6, random_state=0)
region = np.random.default_rng(0).choice(["north", "east", "south", "west"], 4000, p=[0.6, 0.25, 0.1, 0.05])
model = BinnedForestClassifier(50, random_state=0).fit(X[:2000], y[:2000])
certificate = certify(model, X[2000:], y[2000:], claims=[Claim("error_by", by=region[2000:])])
limits = certificate.guarantees[0].decomposition
wrong = model.predict(X[2000:]) != y[2000:]
observed = [wrong[region[2000:] == name].mean() for name in limits]
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(list(limits), list(limits.values()), color="#cfe6d6", label="guaranteed error")
ax.plot(observed, list(limits), "o", color="#2e7d4f", label="observed error")
ax.legend(frameon=False)
