"""The criterion of a tree, leaf by leaf

Each leaf adds its errors and its complexity penalty, which is capped by the leaf's correct rows.
"""

from sklearn.datasets import load_breast_cancer

from surewood import RandomCompositeForestClassifier
from surewood.inspect import BoundDisplay

X, y = load_breast_cancer(return_X_y=True)
forest = RandomCompositeForestClassifier.exact(
    n_estimators=5, max_depth=3, gamma_scale=1e-4, random_state=0
).fit(X, y)
BoundDisplay.from_estimator(forest, part=0)
print(forest.ledger(tree=0)[["path", "correct", "errors", "degree", "side"]].to_string(index=False))
