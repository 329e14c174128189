"""A factory: decide only when sure, and give all labels that may be true elsewhere."""

from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier
from surewood.certify import PredictionSets, find_threshold

X, y = make_classification(9000, 12, n_informative=6, n_classes=3, class_sep=1.5, flip_y=0.01, random_state=0)
forest = BinnedForestClassifier(100, oob_score=True, random_state=0).fit(X[:3000], y[:3000])

careful = find_threshold(forest, X[3000:6000], y[3000:6000], accepted_error=0.05)
print(careful)
print("first answers:", *careful.predict(X[6000:6008]))

sets = PredictionSets(forest, alpha=0.05).fit(X[3000:6000], y[3000:6000])
print(sets.statement_)
measured = sets.coverage(X[6000:], y[6000:])
print(f"measured: {measured.coverage:.3f} covered, {measured.mean_size:.2f} labels on average")
