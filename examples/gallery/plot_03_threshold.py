"""A threshold with guaranteed recall

`find_threshold` finds the highest threshold whose recall on new rows is guaranteed to be at least 85 %.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from surewood import BinnedForestClassifier
from surewood.certify import find_threshold

X, y = make_classification(3000, weights=[0.9], class_sep=1.5, random_state=0)
forest = BinnedForestClassifier(100, calibrate=True, oob_score=True, random_state=0).fit(X[:1500], y[:1500])
decided = find_threshold(forest, X[1500:], y[1500:], recall=0.85)
print(decided)
p = forest.predict_proba(X[1500:])[:, 1]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hist(
    [p[y[1500:] == 0], p[y[1500:] == 1]],
    bins=30,
    color=["#c9cdd2", "#2e7d4f"],
    label=["negative", "positive"],
    log=True,
)
ax.axvline(decided.threshold, color="#8e5572", label=f"threshold {decided.threshold:.3f}")
ax.set(xlabel="predicted probability", ylabel="holdout rows")
ax.legend(frameon=False)
