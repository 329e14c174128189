"""The specification of the margin forest: theory.md §4.2-4.5 with scikit-learn's trees, in plain Python."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier


def loss(z, theta, mu):
    return np.where(z <= theta, (z - theta) ** 2 / theta**2, mu * (z - theta) ** 2 / (1 - theta) ** 2)


def margin(vectors, y):
    return np.array([v[c] - max(np.delete(v, c)) for v, c in zip(vectors, y)])


def random_forest(X, y, weight, depth, n_trees, rng):
    """Bootstrap counts are drawn uniformly and multiplied by the weights ([D-28])."""
    trees = []
    for _ in range(n_trees):
        counts = np.bincount(rng.integers(len(y), size=len(y)), minlength=len(y))
        used = counts * weight > 0
        tree = DecisionTreeClassifier(
            max_features="sqrt", max_depth=depth, random_state=int(rng.integers(2**31))
        )
        trees.append(tree.fit(X[used], y[used], sample_weight=(counts * weight)[used]))
    return trees


def completely_random_forest(X, y, weight, depth, n_trees, rng):
    forest = ExtraTreesClassifier(
        n_trees, max_features=1, max_depth=depth, random_state=int(rng.integers(2**31))
    )
    return forest.fit(X, y, sample_weight=weight).estimators_


def mean_vectors(trees, X, n_classes):
    total = np.zeros((len(X), n_classes))
    for tree in trees:
        total[:, tree.classes_.astype(int)] += tree.predict_proba(X)
    return total / len(trees)


def block(X, y, X_new, weight, fold, depth, n_trees, rng):
    n_classes = y.max() + 1
    held_out, new = np.zeros((len(y), n_classes)), np.zeros((len(X_new), n_classes))
    for i in range(fold.max() + 1):
        inside, outside = fold != i, fold == i
        for grow in (random_forest, random_forest, completely_random_forest, completely_random_forest):
            trees = grow(X[inside], y[inside], weight[inside], depth, n_trees, rng)
            held_out[outside] += mean_vectors(trees, X[outside], n_classes) / 4
            new += mean_vectors(trees, X_new, n_classes) / 4 / (fold.max() + 1)
    return held_out, new


def reference_margin_forest(X, y, X_new, *, n_layers, n_trees, n_folds, rate, theta, mu, seed):
    """Simplex mode, literal weights: held-out scores, new scores and mixing weight of every layer."""
    rng = np.random.default_rng(seed)
    weight, result = np.ones(len(y)), []
    inputs, inputs_new = X, X_new
    for t in range(1, n_layers + 1):
        fold = np.empty(len(y), dtype=int)
        order = np.argsort(y + 0.5 * rng.random(len(y)))
        fold[order] = np.arange(len(y)) % n_folds
        h, h_new = block(inputs, y, inputs_new, weight, fold, rate * (t + 1), n_trees, rng)
        g = margin(h, y)
        if t == 1:
            beta, f, f_new, z = 1.0, h, h_new, g
        else:
            grid = np.linspace(0, 1, 1001)
            beta = grid[np.argmin([loss((1 - b) * z + b * g, theta, mu).mean() for b in grid])]
            f, f_new, z = (
                (1 - beta) * f + beta * h,
                (1 - beta) * f_new + beta * h_new,
                (1 - beta) * z + beta * g,
            )
        result.append((f, f_new, beta))
        weight = loss(z, theta, mu) / loss(z, theta, mu).mean()
        inputs, inputs_new = np.hstack([X, f]), np.hstack([X_new, f_new])
    return result
