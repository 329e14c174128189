"""Which region uses which degree

A composite forest chooses the degree of the SVM of each leaf. The map shows the mean degree over the trees.
"""

from sklearn.datasets import make_moons

from surewood import RandomCompositeForestClassifier
from surewood.inspect import CapacityMapDisplay

X, y = make_moons(400, noise=0.25, random_state=0)
forest = RandomCompositeForestClassifier.exact(
    n_estimators=20, max_depth=3, gamma_scale=1e-4, random_state=0
).fit(X, y)
CapacityMapDisplay.from_estimator(forest, X, features=(0, 1))
