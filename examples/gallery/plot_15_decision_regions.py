"""Decision regions of the families

The same two-dimensional data, four classifiers. Color is the predicted probability.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from surewood import (
    BinnedForestClassifier,
    DeepCascadeSVMClassifier,
    PolySVC,
    RandomCompositeForestClassifier,
)

X, y = make_moons(300, noise=0.3, random_state=0)
models = {
    "random forest": BinnedForestClassifier(50, random_state=0),
    "composite forest": RandomCompositeForestClassifier(20, random_state=0),
    "cascade": DeepCascadeSVMClassifier(random_state=0),
    "SVM": PolySVC(degree=3),
}
fig, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    DecisionBoundaryDisplay.from_estimator(
        model.fit(X, y), X, response_method="predict_proba", grid_resolution=50, cmap="PiYG", alpha=0.8, ax=ax
    )
    ax.scatter(*X.T, c=y, s=8, cmap="PiYG", edgecolors="k", linewidths=0.3)
    ax.set(title=name, xticks=[], yticks=[])
