"""The random forest of the RCF protocol: prefixes of one forest."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from surewood.experiments.rcf.baseline import numbers, prefix_labels


def test_categories_become_codes():
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": pd.Categorical(["y", "x"])})
    np.testing.assert_array_equal(numbers(frame), np.array([[1.5, 1], [2.5, 0]], dtype=np.float32))


def test_the_last_prefix_is_the_whole_forest_and_the_first_a_smaller_one():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    found = prefix_labels(X[::2], y[::2], X[1::2], 2, (3, 8), seed=5, n_jobs=1)
    for size, labels in zip((3, 8), found):
        forest = RandomForestClassifier(8, max_features=2, random_state=5).fit(X[::2], y[::2])
        votes = np.mean([tree.predict_proba(X[1::2]) for tree in forest.estimators_[:size]], axis=0)
        np.testing.assert_array_equal(labels, votes.argmax(axis=1))
