"""The engine: equal to the reference bit for bit, the same for any order of rows and any instruction set."""

import numpy as np
import pytest

from surewood import _core
from surewood.trees.node_codec import feature_of, is_split, last_bin, missing_left
from tests.instruction_sets import each_instruction_set
from tests.trees.reference_boosting import Reference

OPTIONS = {
    "symmetric": True, "depth": 3, "max_leaves": 6, "n_rounds": 6, "patience": 3, "learning_rate": 0.3,
    "l2": 1.0, "min_hessian": 1e-3, "min_rows": 2, "leaf_penalty": 0.0, "split_penalty": 0.0,
    "columns_per_tree": 3, "row_fraction": 0.8, "seed": 7,
}  # fmt: skip


def problem(n_classes, seed=0, n=120):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 9, (4, n)).astype(np.uint8)
    codes[1, rng.random(n) < 0.2] = 255
    noisy = codes[0] + 3 * (codes[1] == 255) + 2 * codes[2] + rng.integers(0, 6, n)
    y = np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy).astype(np.uint16)
    return {
        "codes": codes,
        "n_bins": np.full(4, 9, dtype=np.uint8),
        "has_missing": np.array([0, 1, 0, 0], dtype=np.uint8),
        "columns": np.arange(4, dtype=np.uint32),
        "y": y,
        "n_classes": n_classes,
        "keys": rng.integers(0, 2**63, n, dtype=np.uint64),
        "role": np.where(np.arange(n) % 4 == 0, 2, 1).astype(np.uint8),
    }


def boost(data, options, weight=None, monotone=None, baseline=None):
    n_outputs = 1 if data["n_classes"] == 2 else data["n_classes"]
    return _core.boost(
        _core.Bins([data["codes"]]),
        data["n_bins"],
        data["has_missing"],
        monotone,
        data["columns"],
        data["y"],
        data["n_classes"],
        weight,
        data["keys"],
        data["role"],
        np.linspace(-0.2, 0.3, n_outputs) if baseline is None else baseline,
        _core.BoostingOptions(**options),
        np.inf,
        np.zeros(1, dtype=np.uint8),
    )


CASES = {
    "two classes": (2, {}, False, None),
    "two classes, weights": (2, {}, True, None),
    "two classes, monotone": (2, {"columns_per_tree": 4}, False, [1, -1, -1, 0]),
    "three classes": (3, {}, False, None),
    "three classes, weights, penalties": (3, {"leaf_penalty": 0.2, "split_penalty": 1.0}, True, None),
    "nine classes": (9, {"l2": 3.0}, False, None),
    "no regularization": (2, {"l2": 0.0, "row_fraction": 1.0, "min_rows": 1}, False, None),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_trees_and_values_are_those_of_the_reference(case, symmetric):
    n_classes, changes, weighted, monotone = CASES[case]
    data, options = problem(n_classes), OPTIONS | {"symmetric": symmetric} | changes
    weight = np.random.default_rng(1).random(120) + 0.25 if weighted else None
    directions = None if monotone is None else np.array(monotone, dtype=np.int8)
    nodes, values, node_start, _, losses = boost(data, options, weight, directions)
    n_outputs = 1 if n_classes == 2 else n_classes
    reference = Reference(**data, weight=weight, monotone=directions)
    trees, expected_losses = reference.boost(np.linspace(-0.2, 0.3, n_outputs), options)
    assert len(trees) == len(node_start) - 1
    assert sum(len(tree) > 1 for tree in trees) > 1
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-9)
    values = values.reshape(-1, n_outputs)
    for t, tree in enumerate(trees):
        here = slice(node_start[t], node_start[t + 1])
        left, word = nodes[here].astype(np.int64).T
        assert len(word) == len(tree)
        for k, node in enumerate(tree):
            assert is_split(word[k : k + 1])[0] == ("split" in node)
            if "split" in node:
                one = word[k : k + 1]
                found = (left[k], feature_of(one)[0], last_bin(one)[0], missing_left(one)[0])
                assert found == node["split"]
            else:
                np.testing.assert_array_equal(values[here][k], node["value"])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_order_of_rows_and_instruction_set_do_not_matter(n_classes, symmetric):
    data, options = problem(n_classes, n=700), OPTIONS | {"symmetric": symmetric}
    weight = np.random.default_rng(2).random(700) + 0.25
    first = boost(data, options, weight)
    order = np.random.default_rng(3).permutation(700)
    moved = {name: data[name][order] for name in ("y", "keys", "role")}
    other = data | moved | {"codes": np.ascontiguousarray(data["codes"][:, order])}
    for one, two in zip(first, boost(other, options, weight[order])):
        np.testing.assert_array_equal(one, two)
    for _ in each_instruction_set():
        for one, two in zip(first, boost(data, options, weight)):
            np.testing.assert_array_equal(one, two)


def test_monotone_scores_never_fall():
    data = problem(2, n=600)
    options = OPTIONS | {"n_rounds": 30, "patience": 30, "columns_per_tree": 4, "depth": 5, "max_leaves": 20}
    for symmetric in (True, False):
        directions = np.array([1, 0, 1, -1], dtype=np.int8)
        nodes, values, node_start, _, _ = boost(data, options | {"symmetric": symmetric}, monotone=directions)
        score = np.zeros((9, 9, 9))
        for t in range(len(node_start) - 1):
            base = node_start[t]
            for a, b, c in np.ndindex(9, 9, 9):
                at = 0
                while is_split(nodes[base + at, 1:]).all():
                    word = nodes[base + at, 1:].astype(np.int64)
                    code = (a, 4, b, c)[feature_of(word)[0]]
                    at = int(nodes[base + at, 0]) + int(code > last_bin(word)[0])
                score[a, b, c] += values[base + at]
        assert (np.diff(score, axis=0) >= -1e-6).all()
        assert (np.diff(score, axis=1) >= -1e-6).all()
        assert (np.diff(score, axis=2) <= 1e-6).all()
        assert np.ptp(score, axis=0).max() > 0.1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"codes": np.full((4, 120), 9, dtype=np.uint8)}, "a code is no bin of its column"),
        ({"has_missing": np.zeros(4, dtype=np.uint8)}, "a code is no bin of its column"),
        ({"columns": np.array([4], dtype=np.uint32)}, "a number that is no column"),
        ({"columns": np.array([], dtype=np.uint32)}, "there is no column"),
        ({"n_bins": np.zeros(4, dtype=np.uint8)}, "1 to 255 bins"),
        ({"role": np.full(120, 3, dtype=np.uint8)}, "must be 0, 1 or 2"),
        ({"role": np.full(120, 2, dtype=np.uint8)}, "no training row"),
        ({"y": np.full(120, 2, dtype=np.uint16)}, "not below n_classes"),
        ({"keys": np.zeros(119, dtype=np.uint64)}, "axis 0 must have length 120"),
    ],
)
def test_wrong_input_is_refused(changes, error):
    with pytest.raises((ValueError, TypeError), match=error):
        boost(problem(2) | changes, OPTIONS)


def test_wrong_weights_and_directions_are_refused():
    with pytest.raises(ValueError, match="positive and finite"):
        boost(problem(2), OPTIONS, weight=np.zeros(120))
    with pytest.raises(ValueError, match="two classes only"):
        boost(problem(3), OPTIONS, monotone=np.zeros(4, dtype=np.int8))
    with pytest.raises(ValueError, match="must be -1, 0 or 1"):
        boost(problem(2), OPTIONS, monotone=np.full(4, 2, dtype=np.int8))
