"""How rows flow through a cascade

Rows that a classifier of the chain is confident about stop there; the others go on.
"""

from sklearn.datasets import make_moons

from surewood import DeepCascadeSVMClassifier
from surewood.inspect import CascadeFlowDisplay

X, y = make_moons(600, noise=0.3, random_state=0)
cascade = DeepCascadeSVMClassifier(n_leaves=3, gamma_scale=1e-4, random_state=0).fit(X[:400], y[:400])
CascadeFlowDisplay.from_estimator(cascade, X[400:], y[400:])
