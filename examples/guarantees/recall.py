"""Fraud: find the threshold that catches at least 80 % of the cases, guaranteed."""

from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier
from surewood.certify import NoThresholdError, find_threshold

X, y = make_classification(8000, 12, n_informative=6, weights=[0.95], class_sep=1.5, random_state=0)
forest = BinnedForestClassifier(100, oob_score=True, random_state=0).fit(X[:4000], y[:4000])

found = find_threshold(forest, X[4000:], y[4000:], positive=1, recall=0.8)
print(found)
print(f"flagged: {found.coverage} of rows")

try:
    find_threshold(forest, X[4000:4400], y[4000:4400], positive=1, recall=0.99)
except NoThresholdError as error:
    print(error)
