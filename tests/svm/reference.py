"""The SVM engine in plain NumPy: what the compiled routines must give, written the obvious way."""

import numpy as np


def inner_products(a, b):
    """Sum over the features in their order, in double; one rounding to float32 at the end."""
    total = np.zeros((len(a), len(b)))
    for k in range(a.shape[1]):
        total = total + a[:, k][:, None] * b[:, k][None, :]
    return total.astype(np.float32)


def kernel_matrix(X, Z, spec, degree):
    """The kernel in double."""
    inner = X @ Z.T
    if spec.kind == "poly":
        return (spec.gamma * inner + spec.coef0) ** degree
    distance = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1)[None, :] - 2 * inner
    return np.exp(-spec.gamma * np.maximum(distance, 0))


def group_rows(machines, problem):
    """Rows of the problem's group, in the order given."""
    g = problem // (machines.shape[1] * machines.shape[2])
    return machines.points[machines.starts[g] : machines.starts[g + 1]]


def pairs(classes):
    return [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]


def signed_alphas(machines, problem, labels, pair_number):
    """beta = y alpha of one pair over all training rows, from the compact form; and the pair's rows."""
    classes = list(machines.classes(problem))
    a, b = pairs(classes)[pair_number]
    rows = group_rows(machines, problem)
    support, coef = machines.support(problem), machines.coef(problem)
    beta = np.zeros(len(labels))
    for k, row in enumerate(support):
        if labels[row] == a:
            beta[row] = coef[k, classes.index(b) - 1]
        elif labels[row] == b:
            beta[row] = coef[k, classes.index(a)]
    inside = rows[(labels[rows] == a) | (labels[rows] == b)]
    return beta, inside, np.where(labels[inside] == a, 1.0, -1.0)


def check_kkt(machines, problem, X, labels, C, weights=None, tol=1e-3, slack=1e-4):
    """The optimality conditions of every pair, from the returned coefficients and the kernel in double."""
    degree = int(machines.degree[problem])
    factor = float(machines.scale.ravel()[problem]) ** degree
    weights = np.ones(len(X)) if weights is None else weights
    for pair in range(len(machines.pair("bias", problem))):
        beta, inside, sign = signed_alphas(machines, problem, labels, pair)
        beta = beta[inside] / factor
        box = C * weights[inside]
        alpha = sign * beta
        assert (alpha >= 0).all()
        assert (alpha <= box * (1 + 1e-12)).all()
        size = max(1.0, np.abs(beta).sum())
        assert abs(beta.sum()) <= 1e-9 * size
        K = kernel_matrix(X[inside], X[inside], machines.kernel, degree)
        v = sign - K @ beta  # gradient of the dual
        rest = 1e-12 * np.minimum(np.abs(beta).max(initial=0.0), box)  # what rounding leaves at a bound
        up = np.where(sign > 0, alpha < box - rest, alpha > rest)
        low = np.where(sign > 0, alpha > rest, alpha < box - rest)
        error = slack * max(1.0, np.abs(K).max() * np.abs(beta).max())  # float32 kernel
        if machines.pair("status", problem)[pair] == 0:
            assert v[up].max() - v[low].min() <= tol + error
        bias = machines.pair("bias", problem)[pair]
        ends = sorted([v[low].min(), v[up].max()])
        assert ends[0] - error <= bias <= ends[1] + error
        objective = sign @ beta - 0.5 * beta @ K @ beta
        rounding = 1e-6 * np.abs(beta) @ np.abs(K) @ np.abs(beta)  # of the float32 kernel
        found = machines.pair("objective", problem)[pair]
        assert np.isclose(found, objective, rtol=1e-4, atol=max(error, rounding))


def vote(decisions, classes):
    """libsvm: above zero for the first class of the pair, else the second; the first class on ties."""
    count = dict.fromkeys(classes, 0)
    for value, (a, b) in zip(decisions, pairs(list(classes))):
        count[a if value > 0 else b] += 1
    return max(classes, key=lambda c: (count[c], -c))


def decisions(machines, problem, X, labels, Z):
    """Pairwise decision values at the rows of Z, in double."""
    degree = int(machines.degree[problem])
    factor = float(machines.scale.ravel()[problem]) ** degree
    K = kernel_matrix(Z, X, machines.kernel, degree)
    columns = []
    for pair, bias in enumerate(machines.pair("bias", problem)):
        beta, _, _ = signed_alphas(machines, problem, labels, pair)
        columns.append(K @ (beta / factor) + bias)
    return np.stack(columns, axis=1)


def blobs(n, d, n_classes, seed, noise=1.5):
    """Overlapping clouds; every class is present."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    centers = rng.normal(size=(n_classes, d))
    return centers[labels] + noise * rng.normal(size=(n, d)), labels.astype(np.int32)


def equal_arrays(a, b):
    return all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)
